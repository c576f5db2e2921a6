import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { toError } from "@slipway/kernel/errors";
import { SourceFailed } from "../errors.ts";
import { LARGEST_DOCUMENT, type SettingsReader, type SourceTools } from "./source.ts";

const CHUNK = 64 * 1024;
/** virtio-blk carries no more of a serial number than this, silently. */
const VIRTIO_SERIAL = 20;

/** A small disk that begins with the JSON document and is NUL from there on; found by its serial number. */
export function rawDiskSource(options: { readonly Serial: string }, tools: SourceTools): SettingsReader {
  const name = `RawDisk serial ${options.Serial}`;
  return {
    name,
    read: async (signal) => {
      const device = tools.paths.system("dev", await diskWithSerial(name, options.Serial, tools));
      // The host may have written a new document since this kernel last read the disk.
      await tools.exec("blockdev", ["--flushbufs", device], { signal }).catch(() => undefined);
      signal.throwIfAborted();
      return await readUntilNul(name, device);
    },
  };
}

async function diskWithSerial(source: string, serial: string, tools: SourceTools): Promise<string> {
  const block = tools.paths.system("sys", "block");
  const disks = await readdir(block).catch(() => []);
  const found: string[] = [];
  for (const disk of disks) {
    const serials = await serialsOf(join(block, disk));
    if (serials.includes(serial) || serials.includes(serial.slice(0, VIRTIO_SERIAL))) found.push(disk);
  }
  const [only] = found;
  if (only === undefined)
    throw SourceFailed({ source, why: `none of ${disks.length} disks has that serial number` });
  if (found.length > 1)
    throw SourceFailed({ source, why: `${found.join(" and ")} both have that serial number` });
  // sysfs writes the slash of a device name as an exclamation mark.
  return only.replaceAll("!", "/");
}

/** A SCSI disk tells its serial in a vital product data page: four bytes of header, then text. */
async function serialsOf(directory: string): Promise<readonly string[]> {
  const [plain, nvme, page] = await Promise.all(
    ["serial", "device/serial", "device/vpd_pg80"].map((file) =>
      readFile(join(directory, file)).catch(() => Buffer.alloc(0)),
    ),
  );
  return [plain, nvme, page?.subarray(4)]
    .map((bytes) => (bytes?.toString("latin1") ?? "").replaceAll("\0", "").trim())
    .filter((serial) => serial !== "");
}

async function readUntilNul(source: string, device: string): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    const file = await open(device, "r");
    try {
      for (let at = 0; at < LARGEST_DOCUMENT; ) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
        const end = buffer.subarray(0, bytesRead).indexOf(0);
        chunks.push(buffer.subarray(0, end === -1 ? bytesRead : end));
        if (end !== -1 || bytesRead === 0) return Buffer.concat(chunks).toString("utf8");
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw SourceFailed({ source, why: `${device} cannot be read: ${toError(cause).message}` }, { cause });
  }
  throw SourceFailed({ source, why: `${device} holds no document that ends` });
}
