import type { DiskHint } from "@slipway/protocol/settings/disk-hint";
import { blockDevice } from "./block-device.ts";
import { inspect } from "./contents.ts";
import type { DiskContext } from "./context.ts";
import { mayWrite } from "./format.ts";
import { FormatMarker } from "./format-marker.ts";
import { targetOf } from "./hint-target.ts";
import { locateDevice } from "./locate.ts";
import { createTable } from "./partition.ts";
import { refusal } from "./prepare.ts";

const PATIENCE_MS = 30_000;

/** Instance storage that jobs use as it is: a table with one partition, `raw-ephemeral-<n>`, and no file system. */
export async function setUpRawEphemeral(context: DiskContext, devices: readonly DiskHint[]): Promise<void> {
  for (const [index, hint] of devices.entries()) {
    const what = `raw-ephemeral-${index}`;
    const deadline = new AbortController();
    const cancel = context.clock.after(PATIENCE_MS, () => deadline.abort());
    const path = await locateDevice(context, targetOf("", hint), deadline.signal).finally(cancel);
    await partitionRaw(context, path, what);
  }
}

async function partitionRaw(context: DiskContext, path: string, what: string): Promise<void> {
  const device = await blockDevice(context, path);
  const contents = await inspect(context, device);
  const marker = new FormatMarker(context.paths, what);
  if (contents.kind === "table") {
    const [first, ...others] = contents.table.partitions;
    // After a reboot the devices may come in another order; what jobs put there is theirs.
    if (first !== undefined && others.length === 0 && /^raw-ephemeral-\d+$/.test(first.name))
      return marker.end();
  }
  const interrupted = contents.kind === "unknown" && !contents.foreign && (await marker.covers(device));
  if (contents.kind !== "zeros" && !interrupted)
    throw refusal(device, contents, "an empty disk or one called raw-ephemeral");
  await mayWrite(context, device, "partitioning");
  await marker.begin(device);
  await createTable(context, path, [{ name: what, use: "linux" }]);
  await marker.end();
}
