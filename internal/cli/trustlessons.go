package cli

import (
	"cardea.dev"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/lesson"
)

// newLessons are the lessons of the project that this user's Cardea did not write and
// that the person has not accepted. at is where they stand, nil where there are none.
func newLessons(l *inforce.Loaded) (at *inforce.LessonPlace, out []shelved, err error) {
	places := l.LessonPlaces()
	for i := range places {
		if at := &places[i]; at.Scope == cardea.ScopeProject {
			store, form := lesson.Open(at.Place), lessonForm(l)
			defer store.Close()
			for f, err := range store.All() {
				if err != nil {
					return nil, nil, err
				}
				if !f.Own {
					out = append(out, shelved{f, at, form})
				}
			}
			return at, out, nil
		}
	}
	return nil, nil, nil
}

// readLessons notes what the project brings that is new.
func (s *survey) readLessons() (err error) {
	s.lessonsAt, s.lessons, err = newLessons(s.now)
	return err
}

// acceptLessons makes them count. What is accepted is what was read before, line by line.
func (s *survey) acceptLessons() error {
	if len(s.lessons) == 0 {
		return nil
	}
	w, err := s.now.LessonWriter(*s.lessonsAt)
	if err != nil {
		return err
	}
	return w.Accept(listOf(s.lessons, func(l shelved) lesson.ID { return l.ID }))
}

// lessonListings are the new lessons, allows first: they are what begins to count.
func (s *survey) lessonListings() []lessonListing {
	return listings(s.lessons, s.at)
}

// showLessons shows the new lessons.
func (s *survey) showLessons(out *screen) {
	section(out, "lessons that are new", len(s.lessons))
	for i, e := range s.lessonListings() {
		showLine(out, &e, &s.lessons[i].Record)
	}
}

// lessonCount says how many are new, "" for none.
func (s *survey) lessonCount() string {
	if len(s.lessons) == 0 {
		return ""
	}
	return count(len(s.lessons), "new lesson")
}
