package updates

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"cardea.dev/internal/limit"
	"cardea.dev/internal/release"
)

// Feed is the address of the list of releases.
const Feed = release.Repository + "/releases.atom"

// maxFeed is how many bytes of a feed are read, maxRedirects how often it may lead on.
const maxFeed, maxRedirects = 1 << 20, 5

// Newest gives the newest release in a feed: a list in Atom, or an object with a
// tag_name. Nothing else of the feed is used. It follows no redirect to another host.
func Newest(ctx context.Context, address string) (Version, error) {
	at, err := url.Parse(address)
	if err != nil || at.Hostname() == "" || at.Scheme != "https" && !(at.Scheme == "http" && isLoopback(at.Hostname())) {
		return Version{}, errors.New("the address of the feed must begin with https:// and a host")
	}
	ctx, cancel := context.WithTimeout(ctx, limit.Feed)
	defer cancel()
	client := http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || r.URL.Scheme != at.Scheme || r.URL.Host != at.Host {
				return errors.New("it leads to another host, which is not followed")
			}
			return nil
		},
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Version{}, errors.New("the address of the feed cannot be read")
	}
	request.Header.Set("User-Agent", "cardea")
	answer, err := client.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may name a user
		}
		return Version{}, fmt.Errorf("%s cannot be reached: %w", at.Host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Version{}, fmt.Errorf("%s answers with status %d", at.Host, answer.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxFeed+1))
	switch {
	case err != nil:
		return Version{}, fmt.Errorf("the feed does not come to its end: %w", err)
	case len(data) > maxFeed:
		return Version{}, fmt.Errorf("the feed has more than %d bytes", maxFeed)
	}
	return newestOf(data)
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// newestOf gives the highest release that a feed lists.
func newestOf(data []byte) (newest Version, err error) {
	var one struct {
		Tag string `json:"tag_name"`
	}
	var list struct {
		Entries []struct {
			ID string `xml:"id"`
		} `xml:"entry"`
	}
	if json.Unmarshal(data, &one) != nil {
		if err := xml.Unmarshal(data, &list); err != nil {
			return newest, errors.New("the feed is no list of releases")
		}
	}
	tags := []string{one.Tag}
	for _, e := range list.Entries { // tag:github.com,2008:Repository/1/v0.2.0
		tags = append(tags, e.ID[strings.LastIndexByte(e.ID, '/')+1:])
	}
	found := false
	for _, tag := range tags {
		if v, ok := ParseVersion(tag); ok && v.IsRelease() && (!found || v.Compare(newest) > 0) {
			newest, found = v, true
		}
	}
	if !found {
		return newest, errors.New("the feed names no release")
	}
	return newest, nil
}
