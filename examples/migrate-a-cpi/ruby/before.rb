#!/usr/bin/env ruby
# A CPI of version 1: agents learn of everything from the registry.
require_relative "registry"
require_relative "rpc"

class CpiV1
  def initialize(config, _request)
    @cloud = Cloud.new(config.fetch("tiny").fetch("dir"))
    @registry = Registry.new(config.fetch("registry"))
  end

  def info = { "stemcell_formats" => ["general-tar"] }

  def create_stemcell(image_path, _cloud_properties) = @cloud.create_stemcell(image_path)

  def delete_stemcell(cid) = @cloud.delete_stemcell(cid) && nil

  def create_vm(agent_id, stemcell_cid, _cloud_properties, networks, _disk_cids, env)
    @cloud.need_stemcell(stemcell_cid)
    vm_cid = @cloud.create_vm(JSON.dump("registry" => { "endpoint" => @registry.endpoint }, "networks" => networks))
    begin
      @registry.write(vm_cid, settings(agent_id, vm_cid, networks, env))
    rescue StandardError
      @cloud.delete_vm(vm_cid)
      raise
    end
    vm_cid
  end

  def delete_vm(vm_cid)
    @cloud.delete_vm(vm_cid)
    @registry.delete(vm_cid)
    nil
  end

  def has_vm(vm_cid) = @cloud.has_vm(vm_cid)

  def create_disk(size, _cloud_properties, _vm_cid) = @cloud.create_disk(size)

  def delete_disk(disk_cid) = @cloud.delete_disk(disk_cid) && nil

  def has_disk(disk_cid) = @cloud.has_disk(disk_cid)

  def attach_disk(vm_cid, disk_cid)
    hint = @cloud.attach_disk(vm_cid, disk_cid)
    change_disks(vm_cid) { |persistent| persistent.merge(disk_cid => hint) }
    nil
  end

  def detach_disk(vm_cid, disk_cid)
    @cloud.detach_disk(vm_cid, disk_cid)
    change_disks(vm_cid) { |persistent| persistent.reject { |cid| cid == disk_cid } }
    nil
  end

  def get_disks(vm_cid) = @cloud.get_disks(vm_cid)

  private

  def settings(agent_id, vm_cid, networks, env)
    {
      "agent_id" => agent_id, "vm" => { "name" => vm_cid }, "networks" => networks, "env" => env || {},
      "disks" => { "system" => "/dev/sda", "persistent" => {} }
    }
  end

  def change_disks(vm_cid)
    settings = @registry.read(vm_cid)
    settings["disks"]["persistent"] = yield settings["disks"]["persistent"]
    @registry.write(vm_cid, settings)
  end
end

serve(CpiV1.public_instance_methods(false).map(&:to_s)) { |config, request| CpiV1.new(config, request) }
