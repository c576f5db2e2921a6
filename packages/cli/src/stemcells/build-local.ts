import { createHash } from "node:crypto";
import type { Clock } from "@slipway/kernel/clock";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { BadStemcellOption } from "./errors.ts";
import { writeManifest } from "./manifest.ts";
import { rootImage } from "./root-image.ts";
import { type WrittenArchive, writeArchive } from "./write-archive.ts";

/** Default name of the built-in stemcell; a manifest asks for it by `os`. */
export const LOCAL_STEMCELL = {
  name: "slipway-local",
  version: "1.0",
  os: "local",
  apiVersion: 3,
} as const;

export interface LocalStemcellOrder {
  /** The .tgz; what is there is replaced. */
  readonly to: string;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly apiVersion?: number | undefined;
  /** A directory or tar with the root file system of its VMs, in place of the host's. */
  readonly fromRoot?: string | undefined;
  readonly clock: Clock;
  readonly exec?: Exec;
}

export interface BuiltStemcell extends WrittenArchive {
  readonly file: string;
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly apiVersion: number;
  /** How long it took. */
  readonly ms: number;
  /** Its root file system, where one was made for it: bytes when unpacked, and what is in it. */
  readonly root?: {
    readonly size: number;
    /** How many Debian packages. */
    readonly packages?: number;
    /** Programs that would be welcome, and that the machine does not have. */
    readonly missing?: readonly string[];
  };
}

/** Writes a stemcell for the local CPI. The same order on the same host gives the same bytes. */
export async function buildLocalStemcell(order: LocalStemcellOrder): Promise<BuiltStemcell> {
  const { to, clock, exec = systemExec } = order;
  const began = clock.monotonic();
  const name = order.name ?? LOCAL_STEMCELL.name;
  const version = order.version ?? LOCAL_STEMCELL.version;
  const apiVersion = order.apiVersion ?? LOCAL_STEMCELL.apiVersion;
  const image = order.fromRoot === undefined ? hostImage() : await givenImage(order.fromRoot, to, exec);
  try {
    const manifest = writeManifest({
      name,
      version,
      operating_system: LOCAL_STEMCELL.os,
      sha1: image.sha1,
      bosh_protocol: "1",
      api_version: apiVersion,
      stemcell_formats: image.formats,
      cloud_properties: { infrastructure: "local", hypervisor: "sandbox", root: image.root },
    });
    if (!manifest.ok)
      throw BadStemcellOption({
        option: "name, --version or --api-version",
        why: manifest.problems.join("; "),
      });
    const packages = order.fromRoot === undefined ? await hostPackages(exec) : NO_LIST;
    const written = await writeArchive(to, [
      { name: "stemcell.MF", text: manifest.text },
      { name: "packages.txt", text: packages },
      { name: "image", ...image.content },
    ]);
    return {
      ...written,
      file: to,
      name,
      version,
      os: LOCAL_STEMCELL.os,
      apiVersion,
      ms: clock.monotonic() - began,
    };
  } finally {
    await image.done();
  }
}

interface Image {
  readonly sha1: string;
  readonly formats: readonly string[];
  /** File system that its VMs see: the machine's or the image's. */
  readonly root: "host" | "image";
  readonly content: { readonly text: string } | { readonly path: string };
  done(): Promise<void>;
}

const hostImage = (): Image => ({
  sha1: createHash("sha1").update(HOST_IMAGE).digest("hex"),
  formats: ["slipway-local"],
  root: "host",
  content: { text: HOST_IMAGE },
  done: async () => undefined,
});

async function givenImage(root: string, to: string, exec: Exec): Promise<Image> {
  const { path, sha1, done } = await rootImage(root, to, exec);
  // A tar of a root file system is what `general-tar` means to every CPI that takes it.
  return { sha1, formats: ["slipway-local", "general-tar"], root: "image", content: { path }, done };
}

const NO_LIST = "The packages of this root file system were not listed.\n";

/** The host's Debian packages: its VMs have what it has. */
async function hostPackages(exec: Exec): Promise<string> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the program's own.
  const format = ["-W", "-f", "${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\\n"];
  const listed = await exec("dpkg-query", format, { keep: 16 << 20 }).catch(() => undefined);
  return listed?.code === 0 && listed.stdout !== ""
    ? listed.stdout
    : "This host has no dpkg; its packages are not listed.\n";
}

/**
 * The image of the built-in stemcell: it has no root file system of its own. The local CPI takes it for "this host's,
 * read-only".
 */
export const HOST_IMAGE = `${JSON.stringify({ slipway_local_image: 1, root: "host" })}\n`;
