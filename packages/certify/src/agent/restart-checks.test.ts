import { CommandMissing, type Exec } from "@slipway/kernel/exec";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { CannotTell } from "../expect.ts";
import type { CheckContext } from "./check.ts";
import { type AgentControl, commandControl } from "./control.ts";
import { Messages } from "./messages.ts";
import { runChecks } from "./run.ts";

/** Has tasks that end at once and are forgotten in a restart, and disks that are mounted again after it. */
class SmallAgent extends Messages {
  readonly said: string[] = [];
  readonly #tasks = new Map<string, unknown>();
  #mounted: unknown[] = [];
  remounts = true;
  answers = true;

  restart(): void {
    this.#tasks.clear();
    if (!this.remounts) this.#mounted = [];
  }

  override async deliver(method: string, args: readonly unknown[] = []): Promise<AgentReply> {
    if (!this.answers) throw new Error("connection refused");
    this.said.push(method);
    switch (method) {
      case "ping":
        return { value: "pong" };
      case "get_task": {
        const [id] = args;
        const known = this.#tasks.has(String(id));
        if (known) return { value: this.#tasks.get(String(id)) };
        return { exception: { message: `Task with id ${id} could not be found` } };
      }
      case "mount_disk":
        this.#mounted = [args[0]];
        return this.#task({});
      case "list_disk":
        return this.#task(this.#mounted);
      default:
        return this.#task("prepared");
    }
  }

  #task(value: unknown): AgentReply {
    const id = `task-${this.#tasks.size}`;
    this.#tasks.set(id, value);
    return { value: { agent_task_id: id, state: "running" } };
  }
}

function setup(
  control: (agent: SmallAgent) => AgentControl | undefined,
  differs: Record<string, string> = {},
) {
  const agent = new SmallAgent(fakeClock({ hurry: true }));
  const disk = (cid: string) => ({ cid, hint: "/dev/sdx" });
  const context: CheckContext = {
    agent,
    https: undefined,
    nats: undefined,
    baseDir: undefined,
    natsBaseDir: undefined,
    disks: [disk("vol-1"), disk("vol-2")],
    imageDisk: disk("vol-3"),
    machine: true,
    certificatesDir: "/nowhere",
    heartbeats: false,
    network: "private",
    certificate: "",
    uuid: () => "id",
    control: control(agent),
    nextCertificate: undefined,
    differs: new Map(Object.entries(differs)),
    absent: {},
  };
  const results = async () => {
    const outcomes = await runChecks(context);
    return (number: number, part?: string) => {
      const found = outcomes.find(({ check }) => check.number === number && check.part === part);
      return found?.result === "passed" ? "passed" : `${found?.result}: ${found?.why}`;
    };
  };
  return { agent, results };
}

const restarting =
  (agent: SmallAgent): AgentControl =>
  async (...deed) => {
    if (deed[0] === "restart") agent.restart();
  };

describe("checks with a restart", () => {
  it("pass when the agent comes back with its disk and from what it has stored", async () => {
    const result = await setup(restarting).results();
    expect([result(44), result(49), result(45, "b")]).toEqual(["passed", "passed", "passed"]);
  });

  it("fail when the disk does not come back", async () => {
    const { agent, results } = setup(restarting);
    agent.remounts = false;
    expect((await results())(44)).toMatch(/^failed: list_disk: got \[\], expected \["vol-1"\]/);
  });

  it("fail when the agent never answers again, after a while", async () => {
    const { results } = setup((agent) => async (...deed) => {
      if (deed[0] === "restart") agent.answers = false;
    });
    expect((await results())(44)).toBe("failed: no pong within 60 s of the restart");
  });

  it("do not believe in a restart that did not happen", async () => {
    const result = await setup(() => async () => undefined).results();
    expect(result(49)).toBe("failed: get_task should have failed");
  });

  it("are not run without a control, and say so", async () => {
    const result = await setup(() => undefined).results();
    for (const number of [44, 45, 49])
      expect(result(number)).toBe("not run: no way to restart given; needs --control");
  });
});

describe("checks that others look at", () => {
  it("pass when the disk is as it should be and the stories end well, in this order of deeds", async () => {
    const deeds: string[] = [];
    const { results } = setup((agent) => async (...deed) => {
      if (deed[0] === "disk") deeds.push(deed.join(" "));
      await restarting(agent)(...deed);
    });
    const result = await results();
    expect([41, 42, 54, 55].map((number) => result(number))).toEqual(Array(4).fill("passed"));
    expect(deeds).toEqual([
      ...["disk xfs", "disk kept"],
      ...["disk xfs", "disk enlarge", "disk grown", "disk kept"],
    ]);
  });

  it("fail with what was seen, and are not run where the control cannot look", async () => {
    const { results } = setup(() => async (...deed) => {
      if (deed[0] === "disk") throw new Error(`no ${deed[1]}`);
      if (deed[0] === "story") throw new CannotTell("no CLI here");
    });
    const result = await results();
    expect(result(41)).toBe("failed: no xfs");
    expect([result(54), result(55)]).toEqual(Array(2).fill("not run: no CLI here"));
    const without = await setup(() => undefined).results();
    expect(without(42)).toBe("not run: needs --image-disk and --control");
    expect(without(54)).toBe("not run: no way to play a story given; needs --control");
  });
});

describe("a difference by decision", () => {
  it("is listed apart when the check fails, and is a failure when it does not", async () => {
    const result = await setup(restarting, {
      "AGENT-START-005": "decision A",
      "AGENT-START-001": "decision B",
    }).results();
    expect(result(45)).toBe("differs: decision A");
    expect(result(44)).toBe("failed: it passes, though it was said to differ: decision B");
  });
});

describe("a control that is a program", () => {
  const program = (code: number, stderr = "") => {
    const calls: string[] = [];
    const exec: Exec = async (name, args) => {
      calls.push([name, ...args].join(" "));
      return { program: name, args, code, stdout: "", stderr };
    };
    return { calls, control: commandControl(["ctl", "--vm", "a"], exec) };
  };

  it("is run with the words of what to do", async () => {
    const { calls, control } = program(0);
    await control("bus", "impostor");
    expect(calls).toEqual(["ctl --vm a bus impostor"]);
  });

  it("says by its exit code that it cannot do it, or that it failed", async () => {
    await expect(program(3, "no NATS here").control("bus", "stop")).rejects.toThrow(
      new CannotTell('the control cannot do "bus stop": no NATS here'),
    );
    const failed = program(1, "it burns").control("restart", "https");
    await expect(failed).rejects.toThrow('the control failed at "restart https": it burns');
    await expect(failed).rejects.not.toBeInstanceOf(CannotTell);
  });

  it("reports a control that cannot be started, with its name", async () => {
    const exec: Exec = async (name) => {
      throw CommandMissing({ program: name });
    };
    await expect(commandControl(["ctl"], exec)("bus", "stop")).rejects.toThrow("ctl cannot be started");
  });
});
