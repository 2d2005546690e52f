package cli

import "github.com/spf13/cobra"

func testCommand(p Process) *cobra.Command { return &cobra.Command{Use: "test", Short: "x"} }
func listCommand(p Process) *cobra.Command { return &cobra.Command{Use: "list", Short: "x"} }
func lintCommand(p Process) *cobra.Command { return &cobra.Command{Use: "lint", Short: "x"} }
