// The same CPI in version 2: settings travel as user-data and hints as results. Only old callers and stemcells need the
// registry.
package main

import (
	"encoding/json"

	. "example.com/migrate-a-cpi/shared"
)

const highestVersion = 2

type cpi struct {
	cloud        Cloud
	reported     int
	answersV2    bool
	registryless bool
	// Nil where none is configured, and where none must be used.
	registry *Registry
}

func main() {
	Serve(func(config Config, request Request) (any, error) {
		made := cpi{cloud: Cloud{Dir: config.Tiny.Dir}, reported: highestVersion}
		if lowered := config.Debug.CPI.APIVersion; lowered > 0 && lowered < highestVersion {
			made.reported = lowered
		}
		// A version that is missing is 0 here and means 1.
		made.answersV2 = request.APIVersion >= 2
		made.registryless = made.answersV2 && request.Context.VM.Stemcell.APIVersion >= 2
		if !made.registryless {
			made.registry = config.Registry
		}
		return made.call(request)
	})
}

func (c cpi) call(request Request) (any, error) {
	var agent, image, vm, disk string
	var networks, env map[string]any
	var size int64
	var ignored any
	switch request.Method {
	case "info":
		return map[string]any{"stemcell_formats": []string{"general-tar"}, "api_version": c.reported}, nil
	case "create_stemcell":
		if err := request.Args(&image, &ignored); err != nil {
			return nil, err
		}
		return c.cloud.CreateStemcell(image)
	case "delete_stemcell":
		if err := request.Args(&image); err != nil {
			return nil, err
		}
		return nil, c.cloud.DeleteStemcell(image)
	case "create_vm":
		if err := request.Args(&agent, &image, &ignored, &networks, &ignored, &env); err != nil {
			return nil, err
		}
		return c.createVM(agent, image, networks, env)
	case "delete_vm":
		if err := request.Args(&vm); err != nil {
			return nil, err
		}
		if err := c.cloud.DeleteVM(vm); err != nil {
			return nil, err
		}
		if c.registry == nil {
			return nil, nil
		}
		return nil, c.registry.Delete(vm)
	case "has_vm":
		err := request.Args(&vm)
		return c.cloud.HasVM(vm), err
	case "create_disk":
		if err := request.Args(&size, &ignored, &ignored); err != nil {
			return nil, err
		}
		return c.cloud.CreateDisk(size)
	case "delete_disk":
		if err := request.Args(&disk); err != nil {
			return nil, err
		}
		return nil, c.cloud.DeleteDisk(disk)
	case "has_disk":
		err := request.Args(&disk)
		return c.cloud.HasDisk(disk), err
	case "attach_disk":
		if err := request.Args(&vm, &disk); err != nil {
			return nil, err
		}
		return c.attachDisk(vm, disk)
	case "detach_disk":
		if err := request.Args(&vm, &disk); err != nil {
			return nil, err
		}
		if err := c.cloud.DetachDisk(vm, disk); err != nil {
			return nil, err
		}
		return nil, c.changeDisks(vm, func(persistent map[string]any) { delete(persistent, disk) })
	case "get_disks":
		if err := request.Args(&vm); err != nil {
			return nil, err
		}
		return c.cloud.GetDisks(vm)
	}
	return nil, Fail("NotImplemented", "Method is not known, got: '%s'", request.Method)
}

func (c cpi) createVM(agent, stemcell string, networks, env map[string]any) (any, error) {
	if err := c.needRegistry("create_vm"); err != nil {
		return nil, err
	}
	if err := c.cloud.NeedStemcell(stemcell); err != nil {
		return nil, err
	}
	complete := settings(agent, networks, env)
	told := complete
	if !c.registryless {
		told = Settings{"registry": map[string]any{"endpoint": c.registry.URL()}, "networks": networks}
	}
	userData, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	vm, err := c.cloud.CreateVM(userData)
	if err != nil {
		return nil, err
	}
	if c.registry != nil {
		if err := c.registry.Write(vm, complete); err != nil {
			_ = c.cloud.DeleteVM(vm)
			return nil, err
		}
	}
	if c.answersV2 {
		return []any{vm, networks}, nil
	}
	return vm, nil
}

func (c cpi) attachDisk(vm, disk string) (any, error) {
	if err := c.needRegistry("attach_disk"); err != nil {
		return nil, err
	}
	hint, err := c.cloud.AttachDisk(vm, disk)
	if err != nil {
		return nil, err
	}
	if err := c.changeDisks(vm, func(persistent map[string]any) { persistent[disk] = hint }); err != nil {
		return nil, err
	}
	if c.answersV2 {
		return hint, nil
	}
	return nil, nil
}

// Before anything is made: an agent that finds neither settings nor registry never answers.
func (c cpi) needRegistry(method string) error {
	if c.registryless || c.registry != nil {
		return nil
	}
	return Fail("CloudError", "%s needs a registry for callers and stemcells of version 1", method)
}

func settings(agent string, networks, env map[string]any) Settings {
	if env == nil {
		env = map[string]any{}
	}
	return Settings{
		"agent_id": agent, "vm": map[string]any{"name": "vm-" + agent}, "networks": networks, "env": env,
		"disks": map[string]any{"system": "/dev/sda", "persistent": map[string]any{}},
	}
}

func (c cpi) changeDisks(vm string, change func(map[string]any)) error {
	if c.registry == nil {
		return nil
	}
	settings, err := c.registry.Read(vm)
	if err != nil {
		return err
	}
	change(settings["disks"].(map[string]any)["persistent"].(map[string]any))
	return c.registry.Write(vm, settings)
}
