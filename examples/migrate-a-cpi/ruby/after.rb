#!/usr/bin/env ruby
# The same CPI in version 2: settings travel as user-data and hints as results. Only old callers and stemcells need the
# registry.
require_relative "registry"
require_relative "rpc"

class CpiV2
  HIGHEST_VERSION = 2

  def initialize(config, request)
    @cloud = Cloud.new(config.fetch("tiny").fetch("dir"))
    @reported = config.dig("debug", "cpi", "api_version") || HIGHEST_VERSION
    version = request["api_version"] || 1
    raise CpiError.new("CpiError", "api_version must be an integer") unless version.is_a?(Integer)

    @answers_v2 = version >= 2
    stemcell = request.dig("context", "vm", "stemcell", "api_version") || 1
    @registryless = @answers_v2 && stemcell >= 2
    @registry = Registry.new(config["registry"]) if config["registry"] && !@registryless
  end

  def info = { "stemcell_formats" => ["general-tar"], "api_version" => [@reported, HIGHEST_VERSION].min }

  def create_stemcell(image_path, _cloud_properties) = @cloud.create_stemcell(image_path)

  def delete_stemcell(cid) = @cloud.delete_stemcell(cid) && nil

  def create_vm(agent_id, stemcell_cid, _cloud_properties, networks, _disk_cids, env)
    need_registry("create_vm")
    @cloud.need_stemcell(stemcell_cid)
    settings = settings(agent_id, networks, env)
    vm_cid = @cloud.create_vm(JSON.dump(@registryless ? settings : way_to_registry(networks)))
    begin
      @registry&.write(vm_cid, settings)
    rescue StandardError
      @cloud.delete_vm(vm_cid)
      raise
    end
    @answers_v2 ? [vm_cid, networks] : vm_cid
  end

  def delete_vm(vm_cid)
    @cloud.delete_vm(vm_cid)
    @registry&.delete(vm_cid)
    nil
  end

  def has_vm(vm_cid) = @cloud.has_vm(vm_cid)

  def create_disk(size, _cloud_properties, _vm_cid) = @cloud.create_disk(size)

  def delete_disk(disk_cid) = @cloud.delete_disk(disk_cid) && nil

  def has_disk(disk_cid) = @cloud.has_disk(disk_cid)

  def attach_disk(vm_cid, disk_cid)
    need_registry("attach_disk")
    hint = @cloud.attach_disk(vm_cid, disk_cid)
    change_disks(vm_cid) { |persistent| persistent.merge(disk_cid => hint) }
    @answers_v2 ? hint : nil
  end

  def detach_disk(vm_cid, disk_cid)
    @cloud.detach_disk(vm_cid, disk_cid)
    change_disks(vm_cid) { |persistent| persistent.reject { |cid| cid == disk_cid } }
    nil
  end

  def get_disks(vm_cid) = @cloud.get_disks(vm_cid)

  private

  # Before anything is made: an agent that finds neither settings nor registry never answers.
  def need_registry(method)
    return if @registryless || @registry

    raise CpiError.new("CloudError", "#{method} needs a registry for callers and stemcells of version 1")
  end

  def settings(agent_id, networks, env)
    {
      "agent_id" => agent_id, "vm" => { "name" => "vm-#{agent_id}" }, "networks" => networks, "env" => env || {},
      "disks" => { "system" => "/dev/sda", "persistent" => {} }
    }
  end

  def way_to_registry(networks) = { "registry" => { "endpoint" => @registry.endpoint }, "networks" => networks }

  def change_disks(vm_cid)
    return if @registry.nil?

    settings = @registry.read(vm_cid)
    settings["disks"]["persistent"] = yield settings["disks"]["persistent"]
    @registry.write(vm_cid, settings)
  end
end

serve(CpiV2.public_instance_methods(false).map(&:to_s)) { |config, request| CpiV2.new(config, request) }
