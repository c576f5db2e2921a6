# A cloud that is a directory: a VM is a folder with the user-data of its agent, a disk is a file. Your IaaS takes its place;
# nothing here changes from version 1 to version 2.
require "fileutils"
require "securerandom"

class CpiError < StandardError
  attr_reader :type

  def initialize(name, message)
    super(message)
    @type = "Bosh::Clouds::#{name}"
  end
end

class Cloud
  def initialize(dir)
    @dir = dir
  end

  def create_stemcell(image_path) = make("stemcells", "stemcell") { |path| FileUtils.cp(image_path, path) }

  def delete_stemcell(cid) = FileUtils.rm_f(path("stemcells", cid))

  def need_stemcell(cid)
    raise CpiError.new("CloudError", "Stemcell '#{cid}' not found") unless there?("stemcells", cid)
  end

  def create_vm(user_data)
    make("vms", "vm") do |path|
      FileUtils.mkdir_p(File.join(path, "disks"))
      File.write(File.join(path, "user-data.json"), user_data, perm: 0o600)
    end
  end

  def delete_vm(cid) = FileUtils.rm_r(vm(cid))

  def has_vm(cid) = there?("vms", cid)

  def create_disk(size)
    raise CpiError.new("CpiError", "a disk has at least 1 MiB") unless size.is_a?(Integer) && size.positive?

    make("disks", "disk") { |path| File.open(path, "w") { |file| file.truncate(size << 20) } }
  end

  def delete_disk(cid)
    free_disk(cid)
    FileUtils.rm(path("disks", cid))
  end

  def has_disk(cid) = there?("disks", cid)

  # Returns how the agent finds the disk.
  def attach_disk(vm_cid, disk_cid)
    slot = File.join(vm(vm_cid), "disks", disk_cid)
    free_disk(disk_cid) unless there?("disks", disk_cid) && File.exist?(slot)
    FileUtils.touch(slot)
    { "id" => disk_cid }
  end

  def detach_disk(vm_cid, disk_cid)
    unless get_disks(vm_cid).include?(disk_cid)
      raise CpiError.new("DiskNotAttached", "Disk '#{disk_cid}' is not attached to VM '#{vm_cid}'") if has_disk(disk_cid)

      raise CpiError.new("DiskNotFound", "Disk '#{disk_cid}' not found")
    end
    FileUtils.rm(File.join(vm(vm_cid), "disks", disk_cid))
  end

  def get_disks(vm_cid) = Dir.children(File.join(vm(vm_cid), "disks"))

  private

  def path(kind, cid) = File.join(@dir, kind, cid)

  def there?(kind, cid) = cid.is_a?(String) && cid.match?(/\A\w[\w-]*\z/) && File.exist?(path(kind, cid))

  def vm(cid)
    raise CpiError.new("VMNotFound", "VM '#{cid}' not found") unless there?("vms", cid)

    path("vms", cid)
  end

  def free_disk(cid)
    raise CpiError.new("DiskNotFound", "Disk '#{cid}' not found") unless there?("disks", cid)

    holder = Dir.glob(File.join(@dir, "vms", "*", "disks", cid)).first
    raise CpiError.new("CloudError", "Disk '#{cid}' is attached: #{holder}") if holder
  end

  def make(kind, prefix)
    cid = "#{prefix}-#{SecureRandom.uuid}"
    FileUtils.mkdir_p(File.join(@dir, kind))
    yield path(kind, cid)
    cid
  end
end
