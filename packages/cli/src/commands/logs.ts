import type { Command, TypedInput } from "../command.ts";
import { fetchLogs, type LogsRequest } from "../logs/fetch.ts";
import { type LogChoice, tailCommand } from "../logs/tail.ts";
import { BadArgument, Contradiction } from "../parse/errors.ts";
import { ENDPOINT_OPTIONS, GATEWAY_OPTIONS } from "../ssh/options.ts";
import { runOnEach } from "../ssh/run-on-each.ts";
import { slug } from "../states/slug.ts";
import type { Tools } from "../tools.ts";

export const logs: Command = {
  name: "logs",
  summary: "download the logs of instances, or follow them",
  topic: "deployments",
  arguments: [
    {
      name: "[slug]",
      about: "group, group/id or group/index; without it all instances",
      completes: "instance",
    },
  ],
  options: [
    { flags: "--dir <path>", about: "where the archive goes (.)" },
    { flags: "-f, --follow", about: "print what is written from now on, until Ctrl-C" },
    { flags: "--num <lines>", about: "print the last lines of each file; nothing is downloaded" },
    { flags: "-q, --quiet", about: "with -f or --num: no headers between files" },
    { flags: "--job <name>", about: "only of this job", repeats: true },
    { flags: "--only <globs>", about: "only these files, with commas: 'web/*.log,**/*.err'" },
    { flags: "--agent", about: "of the agent" },
    { flags: "--system", about: "of the machine: /var/log" },
    { flags: "--all-logs", about: "of jobs, agent and machine" },
    ...GATEWAY_OPTIONS,
    ...ENDPOINT_OPTIONS,
  ],
  examples: [
    ["slipway -d shop logs web/0", "an archive of all logs of its jobs"],
    ["slipway -d shop logs web -f", "follow those of a group"],
  ],
  async run(given, tools) {
    const choice = choiceOf(given);
    if (given.flag("follow") || given.text("num") !== undefined) return await follow(given, choice, tools);
    const asked = given.argument(0);
    const wanted = {
      types: typesOf(given),
      filters: [...choice.only, ...choice.jobs.map((job) => `${job}/**/*`)],
      dir: given.text("dir") ?? ".",
    };
    const { endpointOf } = await import("../ssh/endpoint.ts");
    const endpoint = await endpointOf(given, tools.env, asked);
    const path =
      endpoint === undefined
        ? await fetchFromDirector(wanted, asked, tools)
        : await (await import("../logs/fetch-from-agent.ts")).fetchLogsFromAgent(wanted, endpoint, tools);
    tools.ui.line(`Downloaded logs to '${path}'`);
    return 0;
  },
};

async function fetchFromDirector(
  wanted: Omit<LogsRequest, "deployment" | "slug">,
  asked: string | undefined,
  tools: Tools,
): Promise<string> {
  const deployment = tools.mustDeployment();
  const to = asked === undefined ? undefined : slug(asked);
  return await fetchLogs({ ...wanted, deployment, slug: to }, await tools.director(), tools.clock);
}

function choiceOf(given: TypedInput): LogChoice {
  const all = given.flag("all-logs");
  const only = (given.text("only") ?? "").split(",").filter((glob) => glob !== "");
  const jobs = given.texts("job");
  if (all && (given.flag("agent") || given.flag("system")))
    throw Contradiction({ problem: "--all-logs and --agent or --system exclude each other" });
  if (jobs.some((job) => !/^[\w.-]+$/.test(job)))
    throw BadArgument({ given: jobs.join(", "), what: "the name of a job" });
  return { agent: given.flag("agent") || all, system: given.flag("system") || all, only, jobs };
}

/** Returns the types of logs to fetch. As upstream, `--agent` without other types excludes the jobs' logs. */
function typesOf(given: TypedInput): string {
  if (given.flag("all-logs")) return "agent,job,system";
  const types = ["agent", "system"].filter((type) => given.flag(type));
  return types.length === 0 ? "job" : types.join(",");
}

async function follow(given: TypedInput, choice: LogChoice, tools: Tools): Promise<number> {
  const num = given.text("num");
  if (num !== undefined && !/^\d{1,9}$/.test(num))
    throw BadArgument({ given: num, what: "a number of lines" });
  const command = tailCommand(choice, {
    follow: given.flag("follow"),
    lines: num === undefined ? undefined : Number(num),
    quiet: given.flag("quiet"),
  });
  const { withSession } = await import("../ssh/session.ts");
  await withSession(given.argument(0), given, tools, (session) =>
    runOnEach(session, tools, "ssh", (host) => [
      ...session.flags(host),
      // What runs there ends with us.
      ...["-tt", `${session.user}@${host.ip}`, "--", command],
    ]),
  );
  return 0;
}
