// Package msix takes the place of go.digitalxero.dev/go-msix, which not every module proxy
// has. It writes no package: goreleaser links it through nfpm, and Cardea has no MSIX.
package msix

import (
	"crypto/x509"
	"errors"
	"io"
)

var errNone = errors.New("scripts/release/msix cannot write MSIX packages")

// The types have the fields that nfpm fills in.
type (
	Builder struct {
		Manifest    Manifest
		SignOptions *SignOptions
	}
	Manifest struct {
		Identity     Identity
		Properties   Properties
		Dependencies Dependencies
		Resources    []Resource
		Applications []Application
		Capabilities Capabilities
	}
	Identity     struct{ Name, Version, Publisher, ProcessorArchitecture, ResourceID string }
	Properties   struct{ DisplayName, PublisherDisplayName, Logo, Description string }
	Dependencies struct{ TargetDeviceFamilies []TargetDeviceFamily }
	Resource     struct{ Language string }
	Application  struct {
		ID, Executable, EntryPoint string
		VisualElements             VisualElements
	}
	Capabilities struct {
		Capabilities       []Capability
		DeviceCapabilities []DeviceCapability
		Restricted         []RestrictedCapability
	}
	TargetDeviceFamily   struct{ Name, MinVersion, MaxVersionTested string }
	VisualElements       struct{ DisplayName, Description, BackgroundColor, Square150x150Logo, Square44x44Logo string }
	Capability           struct{ Name string }
	DeviceCapability     struct{ Name string }
	RestrictedCapability struct{ Name string }
	SignOptions          struct {
		Certificate *x509.Certificate
		PrivateKey  any
		CertChain   []*x509.Certificate
	}
)

// NewBuilder returns a builder that fails.
func NewBuilder() *Builder { return &Builder{} }

// AddFile fails.
func (*Builder) AddFile(string, string) error { return errNone }

// Build fails.
func (*Builder) Build(io.Writer) error { return errNone }

// LoadPFX fails.
func LoadPFX(string, string) (*x509.Certificate, any, []*x509.Certificate, error) {
	return nil, nil, nil, errNone
}
