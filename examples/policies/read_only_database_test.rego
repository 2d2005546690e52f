package cardea.policies.read_only_database_test

import rego.v1

import data.cardea.policies.read_only_database

denied(sql) if count(read_only_database.deny) == 1 with input.tool_input as {"sql": sql}

test_denied if {
	denied("drop table users")
	denied("select 1; delete from users")
	denied("with x as (delete from users returning *) select * from x")
	denied("explain analyze update users set a = 1")
}

test_left_alone if {
	not denied("select * from users where updated_at > now()")
	not denied("EXPLAIN select 1")
}
