package updates

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/config/release"
)

// Feed is the address of the list of releases.
const Feed = release.Repository + "/releases.atom"

// maxFeed is the maximum size of a feed in bytes, maxRedirects the maximum number of
// redirects.
const maxFeed, maxRedirects = 1 << 20, 5

// Newest returns the newest release in a feed: an Atom list, or an object with a tag_name.
// It uses nothing else of the feed, and follows no redirect to another host.
func Newest(ctx context.Context, address string) (Version, error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil || request.URL.Hostname() == "" || request.URL.Scheme != "https" && (request.URL.Scheme != "http" || !net.ParseIP(request.URL.Hostname()).IsLoopback()) {
		return Version{}, errors.New("the address of the feed must begin with https:// and a host")
	}
	ctx, cancel := context.WithTimeout(ctx, limit.Feed)
	defer cancel()
	request.Header.Set("User-Agent", "cardea")
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || r.URL.Scheme != via[0].URL.Scheme || r.URL.Host != via[0].URL.Host {
				return errors.New("it leads to another host, which is not followed")
			}
			return nil
		}}
	answer, err := client.Do(request.WithContext(ctx))
	if u := new(url.Error); errors.As(err, &u) { // without the address, which may name a user
		return Version{}, fmt.Errorf("%s cannot be reached: %w", request.URL.Host, u.Err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Version{}, fmt.Errorf("%s answers with status %d", request.URL.Host, answer.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxFeed+1))
	if err != nil || len(data) > maxFeed {
		return Version{}, fmt.Errorf("the feed has more than %d bytes, or does not come to its end", maxFeed)
	}
	return newestOf(data)
}

// newestOf returns the highest release in a feed.
func newestOf(data []byte) (newest Version, err error) {
	var one struct {
		Tag string `json:"tag_name"`
	}
	var list struct {
		IDs []string `xml:"entry>id"` // tag:github.com,2008:Repository/1/v0.2.0
	}
	if json.Unmarshal(data, &one) != nil && xml.Unmarshal(data, &list) != nil {
		return newest, errors.New("the feed is no list of releases")
	}
	err = errors.New("the feed names no release")
	for _, id := range append(list.IDs, one.Tag) {
		if v, ok := ParseVersion(id[strings.LastIndexByte(id, '/')+1:]); ok && v.before == "" && (err != nil || v.Compare(newest) > 0) {
			newest, err = v, nil
		}
	}
	return newest, err
}

// Version is a version as in semver.org.
type Version struct {
	numbers [3]int
	before  string // the pre-release part, "" for a release
}

var semver = regexp.MustCompile(`^v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?$`)

// ParseVersion parses a version with or without a leading v.
func ParseVersion(text string) (v Version, ok bool) {
	m := semver.FindStringSubmatch(text)
	if m == nil {
		return v, false
	}
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(m[i+1]) // nine digits at most
	}
	v.before = m[4]
	return v, true
}

// String returns the version in the form of release tags.
func (v Version) String() string {
	return fmt.Sprintf("v%d.%d.%d%s", v.numbers[0], v.numbers[1], v.numbers[2], v.before)
}

// Compare compares versions. A pre-release is less than its release; pre-releases of one
// release are ordered by their texts.
func (v Version) Compare(w Version) int {
	if c := slices.Compare(v.numbers[:], w.numbers[:]); c != 0 || v.before == "" || w.before == "" {
		return cmp.Or(c, cmp.Compare(len(w.before), len(v.before)))
	}
	return cmp.Compare(v.before, w.before)
}
