import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "@slipway/protocol/schema/json";
import { secret } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { type Call, defineCpi } from "../cpi.ts";
import { vmNotFound } from "../errors.ts";
import { serve } from "../serve.ts";

/** A CPI that misbehaves on demand: `act` in the metadata or cloud properties says how. Its cloud is a directory. */

const config = v.object({ dir: text("dir"), api_pin: v.optional(secret(v.string()), "") });
type FixtureCall = Call<v.InferOutput<typeof config>>;

const never = () => new Promise<never>(() => {});
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** Notes what was done, in order, for the test to read. */
const note = (dir: string, line: string) => appendFileSync(join(dir, "calls"), `${line}\n`);

const ACTS: Readonly<Record<string, (call: FixtureCall) => unknown>> = {
  "throw-string": () => {
    throw "out of coffee";
  },
  "throw-undefined": () => {
    throw undefined;
  },
  "throw-secret": ({ config: { api_pin } }) => {
    throw new Error(`login with ${api_pin} failed`);
  },
  never,
  print: ({ config: { api_pin } }) => {
    // biome-ignore lint/suspicious/noConsole: printing where it must not is what is tested
    for (const say of [console.log, console.info, console.error, console.warn]) say("noise", { api_pin });
    process.stdout.write(`{"result":"not the reply","error":null,"log":"${api_pin}"}\n`);
    process.stdout.write(Buffer.from(`bytes of noise ${api_pin}\n`));
    process.stderr.write(`noise on stderr ${api_pin}\n`, () => undefined);
  },
  "print-much": () => process.stdout.write("x".repeat(2 ** 20)),
  "log-much": ({ log }) => {
    for (let i = 0; i < 10 * 1024; i++) log.info("x".repeat(1024));
  },
  "leave-open": () => void setInterval(() => undefined, 1000),
  "reject-elsewhere": ({ config: { api_pin } }) => {
    void Promise.reject(new Error(`stray ${api_pin}`));
    return never();
  },
  "throw-elsewhere": ({ config: { api_pin } }) => {
    setTimeout(() => {
      throw new Error(`stray ${api_pin}`);
    });
    return never();
  },
  "wait-for-abort": ({ signal, config: { dir } }) => {
    note(dir, "waiting");
    return aborted(signal);
  },
};

const RESULTS: Readonly<Record<number, () => object>> = {
  1: () => ({ big: 10n }),
  2: () => {
    const round: Record<string, unknown> = {};
    round.self = round;
    return round;
  },
};

const act = (named: unknown, call: FixtureCall) => ACTS[String((named as { act?: unknown }).act)]?.(call);

const vmsIn = (dir: string) => join(dir, "vms");

const fixture = defineCpi({
  name: "fixture",
  stemcellFormats: ["fixture"],
  config,
  stateDir: ({ dir }) => join(dir, "sdk"),
  // Only these two are ever let run into theirs, one after it has begun, whatever the disk takes to remember that.
  deadlinesMs: { reboot_vm: 300, create_disk: 2_000, default: 600_000 },
  graceMs: 300,
  methods: {
    createStemcell: () => "stemcell-1",
    deleteStemcell: () => undefined,
    createVm: async ({ networks, cloudProperties }, call) => {
      const { dir } = call.config;
      note(dir, `createVm ${call.token} ${call.repeated}`);
      const userData = call.userData({ networks });
      const cid = `vm-${call.token}`;
      call.cleanup(() => note(dir, "undo address"));
      mkdirSync(vmsIn(dir), { recursive: true });
      // The cloud call. A test that holds us here kills us between it and the record.
      writeFileSync(join(vmsIn(dir), cid), userData);
      note(dir, "made");
      call.cleanup(() => {
        note(dir, "undo VM");
        rmSync(join(vmsIn(dir), cid));
      });
      if (existsSync(join(dir, "hold"))) await never();
      await act(cloudProperties, call);
      return { cid };
    },
    deleteVm: ({ vmCid }, { config: { dir } }) => {
      note(dir, `deleteVm ${vmCid}`);
      if (!existsSync(join(vmsIn(dir), vmCid))) throw vmNotFound(vmCid);
      rmSync(join(vmsIn(dir), vmCid));
    },
    hasVm: ({ vmCid }, { config: { dir } }) => readdirSync(vmsIn(dir)).includes(vmCid),
    createDisk: async ({ cloudProperties }, call) => {
      call.cleanup(() => note(call.config.dir, "undo disk"));
      await act(cloudProperties, call);
      return `disk-${call.token}`;
    },
    deleteDisk: () => undefined,
    attachDisk: () => "/dev/sdc",
    detachDisk: () => undefined,
    rebootVm: never,
    setVmMetadata: ({ metadata }, call) => act(metadata, call),
    calculateVmCloudProperties: ({ desired: { cpu } }) => RESULTS[cpu]?.() as never,
  },
});

serve(fixture);
