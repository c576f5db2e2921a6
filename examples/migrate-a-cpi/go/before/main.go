// A CPI of version 1: agents learn of everything from the registry.
package main

import (
	"encoding/json"

	. "example.com/migrate-a-cpi/shared"
)

type cpi struct {
	cloud    Cloud
	registry Registry
}

func main() {
	Serve(func(config Config, request Request) (any, error) {
		if config.Registry == nil {
			return nil, Fail("CloudError", "there is no registry in the configuration")
		}
		return cpi{Cloud{Dir: config.Tiny.Dir}, *config.Registry}.call(request)
	})
}

func (c cpi) call(request Request) (any, error) {
	var agent, image, vm, disk string
	var networks, env map[string]any
	var size int64
	var ignored any
	switch request.Method {
	case "info":
		return map[string]any{"stemcell_formats": []string{"general-tar"}}, nil
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
		hint, err := c.cloud.AttachDisk(vm, disk)
		if err != nil {
			return nil, err
		}
		return nil, c.changeDisks(vm, func(persistent map[string]any) { persistent[disk] = hint })
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
	if err := c.cloud.NeedStemcell(stemcell); err != nil {
		return nil, err
	}
	registry := map[string]any{"endpoint": c.registry.URL()}
	userData, err := json.Marshal(map[string]any{"registry": registry, "networks": networks})
	if err != nil {
		return nil, err
	}
	vm, err := c.cloud.CreateVM(userData)
	if err != nil {
		return nil, err
	}
	if err := c.registry.Write(vm, settings(agent, networks, env)); err != nil {
		_ = c.cloud.DeleteVM(vm)
		return nil, err
	}
	return vm, nil
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
	settings, err := c.registry.Read(vm)
	if err != nil {
		return err
	}
	change(settings["disks"].(map[string]any)["persistent"].(map[string]any))
	return c.registry.Write(vm, settings)
}
