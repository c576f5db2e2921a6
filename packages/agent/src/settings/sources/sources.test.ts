import { access, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SourceFailed } from "../errors.ts";
import { NEVER, programs, SETTINGS_TEXT, tools } from "../testing/settings-lab.ts";
import { makeSource } from "./make.ts";

type Tools = Awaited<ReturnType<typeof tools>>;
const given = async (t: Tools, path: string, content: string | Uint8Array) => {
  const file = t.paths.system(path);
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, content);
};

describe("a file source", () => {
  it("reads the file", async () => {
    const t = await tools();
    await given(t, "/var/x.json", SETTINGS_TEXT);
    const source = makeSource({ Type: "File", SettingsPath: "/var/x.json" }, t);
    expect(await source.read(NEVER)).toBe(SETTINGS_TEXT);
    expect(source.name).toBe("File /var/x.json");
  });

  it.each(["/missing.json", "/"])("fails with the reason when %s is no such file", async (path) => {
    const t = await tools();
    const read = makeSource({ Type: "File", SettingsPath: path }, t).read(NEVER);
    await expect(read).rejects.toSatisfy(SourceFailed.is);
  });
});

describe("a raw settings disk", () => {
  const raw = Buffer.concat([Buffer.from(SETTINGS_TEXT), Buffer.alloc(100_000)]);
  const source = (t: Tools) => makeSource({ Type: "RawDisk", Serial: "bosh-settings" }, t);

  it.each([
    ["virtio", "serial", Buffer.from("bosh-settings")],
    ["NVMe", "device/serial", Buffer.from("bosh-settings       \n")],
    ["SCSI", "device/vpd_pg80", Buffer.from("\0\x80\0\rbosh-settings")],
  ])("is found by its serial number as %s shows it", async (_, file, serial) => {
    const t = await tools();
    await given(t, "/sys/block/vda/serial", "another");
    await given(t, `/sys/block/vdb/${file}`, serial);
    await given(t, "/dev/vdb", raw);
    expect(await source(t).read(NEVER)).toBe(SETTINGS_TEXT);
  });

  it("is found by a serial number that virtio cut to 20 characters", async () => {
    const t = await tools();
    await given(t, "/sys/block/vdb/serial", "a-serial-number-of-t");
    await given(t, "/dev/vdb", raw);
    const long = makeSource({ Type: "RawDisk", Serial: "a-serial-number-of-thirty-chars" }, t);
    expect(await long.read(NEVER)).toBe(SETTINGS_TEXT);
  });

  it("may fill the disk to its last byte and be longer than one read", async () => {
    const t = await tools();
    const long = JSON.stringify({ agent_id: "a", pad: "x".repeat(200_000) });
    await given(t, "/sys/block/vdb/serial", "bosh-settings");
    await given(t, "/dev/vdb", long);
    expect(await source(t).read(NEVER)).toBe(long);
  });

  it("is not guessed: no disk, or two disks, of that number are an error that says so", async () => {
    const t = await tools();
    await expect(source(t).read(NEVER)).rejects.toThrow("none of 0 disks has that serial number");
    for (const disk of ["vda", "vdb"]) await given(t, `/sys/block/${disk}/serial`, "bosh-settings");
    await expect(source(t).read(NEVER)).rejects.toThrow("vda and vdb both have that serial number");
  });
});

describe("a drive that has to be mounted", () => {
  /** A mount that puts files where the drive would show them, and an umount that takes them away. */
  const drive = (files: Readonly<Record<string, string>>) => {
    const mounted = new Set<string>();
    const fake = programs({
      mount: async (args) => {
        const [, options, device = "", target = ""] = args;
        expect(options).toContain("ro,");
        if (!device.endsWith("good") && !device.endsWith("sr0")) return { code: 32, stderr: "wrong fs type" };
        for (const [name, content] of Object.entries(files)) {
          await mkdir(join(target, name, ".."), { recursive: true });
          if (content.startsWith("->")) await symlink(content.slice(2), join(target, name));
          else await writeFile(join(target, name), content);
        }
        mounted.add(target);
        return {};
      },
      umount: async (args) => {
        const target = args.at(-1) ?? "";
        const { rm } = await import("node:fs/promises");
        for (const name of await readdir(target)) await rm(join(target, name), { recursive: true });
        return { code: mounted.delete(target) ? 0 : 32 };
      },
      blkid: (args) => (args[1] === "config-2" ? { stdout: "/dev/good\n" } : { code: 2 }),
      eject: () => ({}),
    });
    return { ...fake, mounted };
  };
  const configDrive = (...disks: string[]) =>
    ({
      Type: "ConfigDrive",
      DiskPaths: disks,
      UserDataPath: "ec2/user-data",
      MetaDataPath: "ec2/meta.json",
    }) as const;
  const gone = async (t: Tools) =>
    expect(await access(join(t.paths.boshDir, ".settings-drive")).catch(() => "gone")).toBe("gone");

  it("is read from the first disk that works, and unmounted", async () => {
    const t = { ...(await tools()), ...drive({ "ec2/user-data": SETTINGS_TEXT }) };
    await given(t, "/dev/bad", "");
    await given(t, "/dev/good", "");
    const source = makeSource(configDrive("/dev/none", "/dev/bad", "/dev/good"), t);
    expect(await source.read(NEVER)).toBe(SETTINGS_TEXT);
    expect(t.mounted.size).toBe(0);
    await gone(t);
  });

  it("is found by its label where no udev made links", async () => {
    const t = { ...(await tools()), ...drive({ "ec2/user-data": SETTINGS_TEXT }) };
    const source = makeSource(configDrive("/dev/disk/by-label/CONFIG-2", "/dev/disk/by-label/config-2"), t);
    expect(await source.read(NEVER)).toBe(SETTINGS_TEXT);
  });

  it("gives the instance id and the SSH key of its metadata", async () => {
    const meta = { "instance-id": "i-7", "public-keys": { "0": { "openssh-key": "ssh-rsa AAA" } } };
    const t = { ...(await tools()), ...drive({ "ec2/meta.json": JSON.stringify(meta) }) };
    await given(t, "/dev/good", "");
    const source = makeSource(configDrive("/dev/good"), t);
    expect(await source.instanceId?.(NEVER)).toBe("i-7");
    expect(await source.sshKey?.(NEVER)).toBe("ssh-rsa AAA");
  });

  it("is unmounted also when the file is missing or leads out of the drive", async () => {
    for (const files of [{}, { "ec2/user-data": "->/etc/passwd" }]) {
      const t = { ...(await tools()), ...drive(files) };
      await given(t, "/dev/good", "");
      await expect(makeSource(configDrive("/dev/good"), t).read(NEVER)).rejects.toSatisfy(SourceFailed.is);
      expect(t.mounted.size).toBe(0);
      await gone(t);
    }
  });

  it("is unmounted before it is mounted again if a killed start left it mounted", async () => {
    const t = { ...(await tools()), ...drive({ env: SETTINGS_TEXT }) };
    await mkdir(join(t.paths.boshDir, ".settings-drive"));
    const source = makeSource({ Type: "CDROM", FileName: "env" }, t);
    expect(await source.read(NEVER)).toBe(SETTINGS_TEXT);
    expect(t.calls.map(([program]) => program)).toEqual(["umount", "mount", "umount", "eject"]);
  });
});
