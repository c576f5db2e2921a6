import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { isRoot, LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { longName, type RawEntry, rawTar } from "@slipway/testkit/raw-tar";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stopAll } from "../power.ts";
import { makeRootDirectory } from "./testing/root-directory.ts";

sampleTests(1 / 3);

const trouble = await sandboxTrouble();
let cloud: LocalCloud;
let scratch: string;

beforeAll(async () => {
  cloud = await LocalCloud.open({ disks: "directory" });
  scratch = await mkdtemp(join(tmpdir(), "slipway-image-"));
});
afterAll(async () => {
  await cloud.close();
  await rm(scratch, { recursive: true, force: true });
});

const image = async (bytes: Uint8Array | string): Promise<string> => {
  const file = join(scratch, "image");
  await writeFile(file, bytes);
  return file;
};
const file = (name: string, content = "x", more: Partial<RawEntry> = {}): RawEntry => ({
  name,
  content,
  ...more,
});
const TYPES = { link: "1", symlink: "2", device: "3", directory: "5", fifo: "6" } as const;
const other = (name: string, type: keyof typeof TYPES, link = ""): RawEntry => ({
  name,
  type: TYPES[type],
  link,
});
const SH = file("bin/sh", "#!", { mode: 0o755 });
const create = async (entries: RawEntry[]) =>
  await cloud.ask("create_stemcell", [await image(rawTar(entries)), {}]);
const root = (cid: unknown) => join(cloud.dir, "stemcells", String(cid), "root");

describe("an image", () => {
  it.each([
    ["nothing", "", {}],
    ["what `slipway stemcell build` writes", '{"slipway_local_image":1,"root":"host"}\n', { root: "host" }],
    ["a text", "this stands for an image\n", {}],
    ["anything, where the properties say so", "\0\0\0", { root: "host" }],
  ])("an image that is %s means the host's root", async (_, text, properties) => {
    const cid = await cloud.newStemcell(text, properties);
    expect(readdirSync(join(cloud.dir, "stemcells", cid))).toEqual(["stemcell.json"]);
    for (const _ of [1, 2]) await cloud.result("delete_stemcell", [cid]);
    expect(existsSync(join(cloud.dir, "stemcells", cid))).toBe(false);
  });

  it("rejects an image that is something else", async () => {
    expect(await cloud.refusal("create_stemcell", [await image("QFI\u00fb\0\0\0\x03"), {}])).toContain(
      "LOC-010",
    );
    expect(await cloud.refusal("create_stemcell", [join(scratch, "none"), {}])).toContain("cannot be read");
  });

  it("extracts a root file system as it is", async () => {
    const long = `usr/share/${"deep/".repeat(30)}file`;
    const { result, error } = await create([
      other("./", "directory"),
      SH,
      file("etc/secret", "top", { mode: 0o600, uid: isRoot ? 33 : 0 }),
      other("closed", "directory"),
      file("closed/file", "inside", { mode: 0o4755 }),
      other("etc/absolute", "symlink", "/etc/secret"),
      other("usr/lib64", "symlink", "../lib"),
      other("usr/hard", "link", "./etc/secret"),
      longName(long),
      file(long, "long"),
      other("dev/null", "device"),
      other("run/pipe", "fifo"),
    ]);
    expect(error).toBeNull();
    const at = (path: string) => join(root(result), path);
    expect(readFileSync(at("etc/secret"), "utf8")).toBe("top");
    expect(statSync(at("etc/secret")).mode & 0o7777).toBe(0o600);
    if (isRoot) expect(statSync(at("etc/secret")).uid).toBe(33);
    expect(statSync(at("closed/file")).mode & 0o7777).toBe(0o4755);
    expect(lstatSync(at("etc/absolute")).isSymbolicLink()).toBe(true);
    expect(statSync(at("usr/hard")).ino).toBe(statSync(at("etc/secret")).ino);
    expect(readFileSync(at(long), "utf8")).toBe("long");
    expect(existsSync(at("dev/null"))).toBe(false);
    await cloud.result("delete_stemcell", [result]);
  });

  it("reads a compressed archive of GNU tar the same", async () => {
    const dir = join(scratch, "gnu");
    const name = `${"n".repeat(90)}/${"m".repeat(120)}`;
    await mkdir(join(dir, "bin"), { recursive: true });
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, "bin", "sh"), "#!");
    await writeFile(join(dir, name), "long");
    await symlink(`/${name}`, join(dir, "link"));
    for (const format of ["gnu", "pax"]) {
      const packed = execFileSync("tar", ["-c", "-z", `--format=${format}`, "-C", dir, "."]);
      const cid = await cloud.result("create_stemcell", [await image(packed), {}]);
      expect(readFileSync(join(root(cid), name), "utf8"), format).toBe("long");
      await cloud.result("delete_stemcell", [cid]);
    }
  });

  it.each([
    ["an absolute path", [SH, file("/etc/passwd")], "absolute path"],
    ["a path that leads out", [SH, file("a/../../b")], "leads out"],
    ["a link that leads out", [SH, other("a/b", "symlink", "../../etc")], "leads out"],
    ["a file through a link", [SH, other("a", "symlink", "/etc"), file("a/b")], "would go through"],
    ["a file through a file", [SH, file("a"), file("a/b")], "would go through"],
    [
      "a hard link to a link",
      [SH, other("a", "symlink", "/etc/shadow"), other("b", "link", "a")],
      "no file before",
    ],
    ["a hard link out", [SH, other("b", "link", "../../etc/shadow")], "leads out"],
    ["a hard link to nothing", [SH, other("b", "link", "c")], "no file before"],
    ["the same file twice", [SH, file("a"), file("a")], "twice"],
    ["a link over a file", [SH, file("a"), other("a", "symlink", "b")], "twice"],
    ["a link where mounts go", [SH, other("var", "symlink", "home")], "must be a directory"],
    ["no shell", [file("etc/passwd")], "no root file system"],
  ])("with %s is refused, and nothing is left", async (_, entries, reason) => {
    const { error } = await create(entries);
    expect(error?.message).toContain("LOC-010");
    expect(error?.message).toContain(reason);
    expect(readdirSync(join(cloud.dir, "stemcells")).filter((name) => name.includes("."))).toEqual([]);
  });

  it("rejects an image that is damaged or cut off anywhere", async () => {
    const whole = rawTar([SH, file("a", "y".repeat(3000))]);
    const packed = gzipSync(whole);
    // Between two entries, in a file, before the end; in what proves the compressed bytes.
    for (const bytes of [
      whole.subarray(0, 1024),
      whole.subarray(0, 1700),
      whole.subarray(0, -1024),
      packed.subarray(0, -4),
    ])
      expect((await cloud.ask("create_stemcell", [await image(bytes), {}])).error?.message).toContain(
        "too early",
      );
    const hurt = Buffer.from(whole);
    hurt[3] = 0x21;
    expect((await cloud.ask("create_stemcell", [await image(hurt), {}])).error?.message).toContain(
      "checksum",
    );
    const wrong = Buffer.from(packed);
    wrong.writeUInt32LE(0, wrong.length - 8);
    expect((await cloud.ask("create_stemcell", [await image(wrong), {}])).error?.message).toContain(
      "damaged",
    );
  });

  it("rejects a file that is stored with holes, and says so", async () => {
    const sparse = join(scratch, "sparse");
    await mkdir(sparse, { recursive: true });
    execFileSync("truncate", ["-s", "1M", join(sparse, "holes")]);
    for (const format of ["gnu", "pax"]) {
      const packed = execFileSync("tar", ["-c", "--sparse", `--format=${format}`, "-C", sparse, "."]);
      const { error } = await cloud.ask("create_stemcell", [await image(packed), {}]);
      expect(error?.message, format).toContain("without --sparse");
    }
  });
});

describe.runIf(needs("userns", trouble === undefined, trouble))("a sandbox with a root of its own", () => {
  it("sees that and keeps what it writes to itself, over a reboot too", async () => {
    const dir = join(scratch, "root");
    await makeRootDirectory(dir);
    const packed = execFileSync("tar", ["-c", "-z", "-C", dir, "."], { maxBuffer: 1 << 30 });
    const stemcell = await cloud.result<string>("create_stemcell", [await image(packed), {}]);
    const [vm] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell));
    const [other] = await cloud.result<[string]>("create_vm", cloud.vmArguments(stemcell));
    for (const one of [vm, other]) await cloud.agentStarts(one, 1);
    expect(await cloud.insideMust(vm, "cat /etc/made-of /var/vcap/bosh/came-with-it")).toBe("an imageyes");
    expect((await cloud.inside(vm, "ls /usr/share/doc /home")).code).not.toBe(0);
    await cloud.insideMust(vm, "echo changed > /etc/made-of; echo new > /root-file");
    expect(await cloud.insideMust(other, "cat /etc/made-of; ls /")).not.toMatch(/changed|root-file/);
    expect(readFileSync(join(root(stemcell), "etc", "made-of"), "utf8")).toBe("an image");
    const disk = await cloud.newDisk();
    await cloud.result("attach_disk", [vm, disk]);
    await cloud.insideMust(vm, `echo data > /var/vcap/disks/${disk}/file`);
    await cloud.result("reboot_vm", [vm]);
    await cloud.agentStarts(vm, 2);
    expect(await cloud.insideMust(vm, `cat /etc/made-of /var/vcap/disks/${disk}/file`)).toBe(
      "changed\ndata\n",
    );
    expect(await cloud.refusal("delete_stemcell", [stemcell])).toContain("root file system of the sandbox");
    // Where there is no overlay it is a copy. What was changed before is not left behind for that.
    await writeFile(cloud.vm(other, "upper", "changed"), "");
    await stopAll(cloud.config);
    execFileSync("sh", [
      "-c",
      'chmod -R u+rwx "$1" && rm -rf "$1" && : > "$1"',
      "sh",
      cloud.vm(other, "work"),
    ]);
    expect(await cloud.refusal("reboot_vm", [other])).toContain("what it has changed");
    execFileSync("sh", ["-c", 'rm -rf "$1"/*', "sh", cloud.vm(other, "upper")]);
    await cloud.result("reboot_vm", [other]);
    expect(await cloud.insideMust(other, "cat /etc/made-of")).toBe("an image");
    expect(existsSync(cloud.vm(other, "copy", "etc", "made-of"))).toBe(true);
    for (const one of [vm, other]) await cloud.result("delete_vm", [one]);
    await cloud.result("delete_disk", [disk]);
    await cloud.result("delete_stemcell", [stemcell]);
    expect(await cloud.traces()).toEqual([]);
    for (const room of ["vms", "disks", "stemcells"])
      expect(readdirSync(join(cloud.dir, room)), room).toEqual([]);
  });
});
