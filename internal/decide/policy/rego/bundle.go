package rego

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"
)

// Signatures is the file of a bundle that holds its signature.
const Signatures = ".signatures.json"

// VerifyBundle verifies that the files of a bundle are exactly those that were signed with
// the private key of publicKey, which is PEM. Names of files have no leading slash. It
// verifies as OPA does, and also requires that no signed file is missing. Shared secrets
// are not accepted as keys.
func VerifyBundle(files map[string][]byte, publicKey string) error {
	text, ok := files[Signatures]
	if !ok {
		return errors.New("it is not signed, and a key is set")
	}
	var sc bundle.SignaturesConfig
	if err := json.Unmarshal(text, &sc); err != nil {
		return fmt.Errorf("%s is no JSON: %w", Signatures, err)
	}
	if sc.Plugin != "" || len(sc.Signatures) != 1 {
		return fmt.Errorf("%s does not hold exactly one signature of OPA's own kind", Signatures)
	}
	algorithm, err := algorithmFor(sc.Signatures[0], publicKey)
	if err != nil {
		return err
	}
	const id = "key" // the only key, whatever its name in the signature
	keys := map[string]*bundle.KeyConfig{id: {Key: publicKey, Algorithm: algorithm}}
	named, err := bundle.VerifyBundleSignature(sc, bundle.NewVerificationConfig(keys, id, "", nil))
	if err != nil {
		return fmt.Errorf("its signature does not fit the key: %w", err)
	}
	left := map[string]bundle.FileInfo{}
	for name, info := range named {
		left[strings.TrimPrefix(strings.TrimPrefix(name, "./"), "/")] = info
	}
	for name, data := range files {
		if name == Signatures {
			continue
		}
		if err := bundle.VerifyBundleFile(name, *bytes.NewBuffer(data), left); err != nil {
			return err
		}
	}
	for name := range left {
		return fmt.Errorf("it lacks %s, which was signed", name)
	}
	return nil
}

// algorithmFor returns the algorithm that a signature names. It fails if the algorithm is
// not for this kind of key.
func algorithmFor(token, publicKey string) (string, error) {
	key, err := parsePublic(publicKey)
	if err != nil {
		return "", err
	}
	var of []string
	switch key.(type) {
	case *rsa.PublicKey:
		of = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		of = []string{"ES256", "ES384", "ES512"}
	default:
		return "", errors.New("the key is neither RSA nor ECDSA")
	}
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var h struct {
		Alg string `json:"alg"`
	}
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		return "", fmt.Errorf("its signature cannot be read: %w", err)
	}
	if !slices.Contains(of, h.Alg) {
		return "", fmt.Errorf("its signature is %q, and the key is for %s", h.Alg, strings.Join(of, ", "))
	}
	return h.Alg, nil
}

// parsePublic reads a public key.
func parsePublic(text string) (any, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the key is no PEM file")
	}
	switch block.Type {
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return c.PublicKey, nil
	}
	return nil, fmt.Errorf("the key is a %s; name the public one", block.Type)
}
