// Package msix replaces go.digitalxero.dev/go-msix, which not every module proxy has. It
// writes no package: goreleaser links it through nfpm, and Cardea has no MSIX.
package msix

import (
	"crypto/x509"
	"errors"
	"io"
)

var errNone = errors.New("scripts/release/msix cannot write MSIX packages")

// The types have the fields that nfpm fills in.
type (
	// Builder holds the input of a package.
	Builder struct {
		Manifest    Manifest
		SignOptions *SignOptions
	}
	// Manifest holds the entries of a manifest.
	Manifest struct {
		Identity     Identity
		Properties   Properties
		Dependencies Dependencies
		Resources    []Resource
		Applications []Application
		Capabilities Capabilities
	}
	// Identity names a package.
	Identity struct{ Name, Version, Publisher, ProcessorArchitecture, ResourceID string }
	// Properties describes a package for people.
	Properties struct{ DisplayName, PublisherDisplayName, Logo, Description string }
	// Dependencies lists the target devices.
	Dependencies struct{ TargetDeviceFamilies []TargetDeviceFamily }
	// Resource names a language.
	Resource struct{ Language string }
	// Application is a program in a package.
	Application struct {
		ID, Executable, EntryPoint string
		VisualElements             VisualElements
	}
	// Capabilities lists what a package may use.
	Capabilities struct {
		Capabilities       []Capability
		DeviceCapabilities []DeviceCapability
		Restricted         []RestrictedCapability
	}
	// TargetDeviceFamily is a range of versions of a device.
	TargetDeviceFamily struct{ Name, MinVersion, MaxVersionTested string }
	// VisualElements describes how an application looks.
	VisualElements struct{ DisplayName, Description, BackgroundColor, Square150x150Logo, Square44x44Logo string }
	// Capability names a capability.
	Capability struct{ Name string }
	// DeviceCapability names a capability of a device.
	DeviceCapability struct{ Name string }
	// RestrictedCapability names a restricted capability.
	RestrictedCapability struct{ Name string }
	// SignOptions holds a certificate and its key.
	SignOptions struct {
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
