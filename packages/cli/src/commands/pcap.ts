import type { Command, TypedInput } from "../command.ts";
import { BadArgument, BadUsage } from "../parse/errors.ts";
import { capture, counted } from "../pcap/capture.ts";
import { type CaptureFile, openCaptureFile } from "../pcap/capture-file.ts";
import { CaptureEnded } from "../pcap/errors.ts";
import { LARGEST_PACKET } from "../pcap/format.ts";
import { type CaptureOptions, captureCommand } from "../pcap/remote.ts";
import { runRemote } from "../pcap/run-remote.ts";
import { GATEWAY_OPTIONS } from "../ssh/options.ts";
import { slug } from "../states/slug.ts";
import type { Tools } from "../tools.ts";

export const pcap: Command = {
  name: "pcap",
  summary: "capture packets in VMs, into one file here",
  topic: "deployments",
  arguments: [
    {
      name: "[slug...]",
      about: "group, group/id or group/index, several; without it all instances",
      completes: "instance",
    },
  ],
  options: [
    { flags: "-o, --output <file>", about: "where the packets go; needed" },
    { flags: "-i, --interface <name>", about: "of the VM (eth0)" },
    { flags: "-f, --filter <expression>", about: "only these, as tcpdump says it: 'port 80'" },
    { flags: "-s, --snaplen <bytes>", about: "so much of each packet (65535)" },
    { flags: "--stop-timeout <time>", about: "after Ctrl-C, so long for the last ones to come (5s)" },
    ...GATEWAY_OPTIONS,
  ],
  examples: [
    ["slipway -d shop pcap web db/0 -o shop.pcap", "of a group and another instance, until Ctrl-C"],
    ["slipway -d shop pcap web/0 -f 'tcp port 5432' -o db.pcap", "only what it says to a database"],
  ],
  async run(given, tools) {
    const output = given.text("output");
    if (output === undefined || output === "")
      throw BadUsage({ called: "slipway pcap", problem: "option '-o, --output <file>' is needed", near: [] });
    const command = captureCommand(wantedOf(given));
    const stopMs = milliseconds(given.text("stop-timeout") ?? "5s");
    const slugs = given.argumentsFrom(0);
    for (const one of slugs) slug(one);
    tools.mustDeployment();
    const { withSessions } = await import("../ssh/sessions.ts");
    const file = await openCaptureFile(output, tools.random);
    try {
      return await captureInto(file, output, tools, () =>
        withSessions(slugs, given, tools, (entered) =>
          capture(
            entered.map(({ host, session }) => {
              const to = `${session.user}@${host.ip}`;
              return runRemote(host.name, [...session.flags(host), to, "--", command], {
                ...tools.env,
                ...session.env,
              });
            }),
            file,
            stopMs,
            tools,
          ),
        ),
      );
    } finally {
      await file.drop();
    }
  },
};

async function captureInto(
  file: CaptureFile,
  output: string,
  { ui, stop }: Tools,
  work: () => ReturnType<typeof capture>,
): Promise<number> {
  const kept = async (from = "") => {
    await file.keep();
    ui.line(`${counted(file.packets, "packet")}${from} ${file.packets === 1 ? "is" : "are"} in '${output}'`);
  };
  const { vms, failures } = await work().catch(async (error: unknown) => {
    // A disk that is full takes nothing of what was there before.
    if (file.packets > 0) await kept();
    throw error;
  });
  if (vms === 0) {
    ui.note(`Stopped before any VM had begun: there is no '${output}'.`);
    return 1;
  }
  await kept(` from ${counted(vms, "VM")}`);
  // After a stop errors are not printed any more, and these have been noted.
  if (failures.length > 0 && !stop.aborted) throw CaptureEnded({ failures });
  return failures.length > 0 ? 1 : 0;
}

function wantedOf(given: TypedInput): CaptureOptions {
  const device = given.text("interface") ?? "eth0";
  // No option of tcpdump.
  if (!/^[A-Za-z0-9_][\w.:@-]{0,63}$/.test(device))
    throw BadArgument({ given: device, what: "the name of an interface: eth0" });
  const snaplen = given.text("snaplen") ?? "65535";
  if (!/^\d{1,6}$/.test(snaplen) || Number(snaplen) > LARGEST_PACKET)
    throw BadArgument({ given: snaplen, what: `a number of bytes up to ${LARGEST_PACKET}` });
  return { interface: device, snaplen: Number(snaplen), filter: given.text("filter") };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function milliseconds(given: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)$/.exec(given) ?? [];
  if (number === "") throw BadArgument({ given, what: "a time: 500ms, 5s or 1m" });
  return Number(number) * (UNITS[unit] ?? 0);
}
