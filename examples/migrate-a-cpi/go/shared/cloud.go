// Package shared has what does not change from version 1 to version 2.
package shared

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Error is a failure with a type of the wire.
type Error struct{ Type, Message string }

func (e Error) Error() string { return e.Message }

// Fail makes an error of the contract, such as "VMNotFound".
func Fail(name, format string, args ...any) error {
	return Error{"Bosh::Clouds::" + name, fmt.Sprintf(format, args...)}
}

// Cloud is a directory: a VM is a folder with the user-data of its agent, a disk is a file. Your IaaS takes its place.
type Cloud struct{ Dir string }

var plain = regexp.MustCompile(`^\w[\w-]*$`)

func (c Cloud) path(kind, cid string) string { return filepath.Join(c.Dir, kind, cid) }

func (c Cloud) has(kind, cid string) bool {
	_, err := os.Stat(c.path(kind, cid))
	return plain.MatchString(cid) && err == nil
}

func (c Cloud) make(kind, prefix string, fill func(path string) error) (string, error) {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return "", err
	}
	cid := fmt.Sprintf("%s-%x", prefix, id)
	if err := os.MkdirAll(filepath.Join(c.Dir, kind), 0o755); err != nil {
		return "", err
	}
	return cid, fill(c.path(kind, cid))
}

func (c Cloud) CreateStemcell(image string) (string, error) {
	return c.make("stemcells", "stemcell", func(path string) error {
		content, err := os.ReadFile(image)
		if err != nil {
			return err
		}
		return os.WriteFile(path, content, 0o644)
	})
}

func (c Cloud) DeleteStemcell(cid string) error { return os.RemoveAll(c.path("stemcells", cid)) }

func (c Cloud) NeedStemcell(cid string) error {
	if !c.has("stemcells", cid) {
		return Fail("CloudError", "Stemcell '%s' not found", cid)
	}
	return nil
}

func (c Cloud) CreateVM(userData []byte) (string, error) {
	return c.make("vms", "vm", func(path string) error {
		if err := os.MkdirAll(filepath.Join(path, "disks"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(path, "user-data.json"), userData, 0o600)
	})
}

func (c Cloud) HasVM(cid string) bool { return c.has("vms", cid) }

func (c Cloud) needVM(cid string) error {
	if !c.HasVM(cid) {
		return Fail("VMNotFound", "VM '%s' not found", cid)
	}
	return nil
}

func (c Cloud) DeleteVM(cid string) error {
	if err := c.needVM(cid); err != nil {
		return err
	}
	return os.RemoveAll(c.path("vms", cid))
}

func (c Cloud) CreateDisk(mib int64) (string, error) {
	if mib < 1 {
		return "", Fail("CpiError", "a disk has at least 1 MiB")
	}
	return c.make("disks", "disk", func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, mib<<20)
	})
}

func (c Cloud) HasDisk(cid string) bool { return c.has("disks", cid) }

func (c Cloud) needFreeDisk(cid string) error {
	if !c.HasDisk(cid) {
		return Fail("DiskNotFound", "Disk '%s' not found", cid)
	}
	if holders, _ := filepath.Glob(filepath.Join(c.Dir, "vms", "*", "disks", cid)); len(holders) > 0 {
		return Fail("CloudError", "Disk '%s' is attached: %s", cid, holders[0])
	}
	return nil
}

func (c Cloud) DeleteDisk(cid string) error {
	if err := c.needFreeDisk(cid); err != nil {
		return err
	}
	return os.Remove(c.path("disks", cid))
}

func (c Cloud) slot(vm, disk string) string { return filepath.Join(c.path("vms", vm), "disks", disk) }

func (c Cloud) attached(vm, disk string) bool {
	_, err := os.Stat(c.slot(vm, disk))
	return c.has("disks", disk) && err == nil
}

// AttachDisk returns how the agent finds the disk.
func (c Cloud) AttachDisk(vm, disk string) (map[string]string, error) {
	if err := c.needVM(vm); err != nil {
		return nil, err
	}
	if !c.attached(vm, disk) {
		if err := c.needFreeDisk(disk); err != nil {
			return nil, err
		}
	}
	return map[string]string{"id": disk}, os.WriteFile(c.slot(vm, disk), nil, 0o600)
}

func (c Cloud) DetachDisk(vm, disk string) error {
	if err := c.needVM(vm); err != nil {
		return err
	}
	if !c.HasDisk(disk) {
		return Fail("DiskNotFound", "Disk '%s' not found", disk)
	}
	if !c.attached(vm, disk) {
		return Fail("DiskNotAttached", "Disk '%s' is not attached to VM '%s'", disk, vm)
	}
	return os.Remove(c.slot(vm, disk))
}

func (c Cloud) GetDisks(vm string) ([]string, error) {
	if err := c.needVM(vm); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(c.path("vms", vm), "disks"))
	disks := []string{}
	for _, entry := range entries {
		disks = append(disks, entry.Name())
	}
	return disks, err
}
