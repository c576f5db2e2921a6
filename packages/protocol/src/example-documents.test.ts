import { argumentsFit, DOCUMENTS, fits, judge, methodOf } from "@slipway/testkit/wire-documents";
import { type Example, readExample, readExamples } from "@slipway/testkit/wire-examples";
import { describe, expect, it } from "vitest";
import { parseAttachDiskResult } from "./cpi/attach-disk-result.ts";
import type { Capabilities } from "./cpi/capabilities.ts";
import { parseCreateVmResult } from "./cpi/create-vm-result.ts";
import { type CpiRequest, type CpiResponse, cpiRequest, cpiResponse } from "./cpi/envelope.ts";
import { CPI_ERRORS, errorNameOf } from "./cpi/errors.ts";
import { infoResult } from "./cpi/methods/info.ts";
import type { DiskCid } from "./ids.ts";
import { agentSettings } from "./settings/agent-settings.ts";
import { disks } from "./settings/disks.ts";
import { parseUserData } from "./settings/user-data.ts";
import { readStemcellManifest } from "./stemcell/stemcell-mf.ts";

const table = (folder: string) => readExamples(folder).map((example) => [example.path, example] as const);
const responseOf = (example: Example) => example.content as CpiResponse;

describe("an error example", () => {
  const errors = readExamples("errors");

  it.each(table("errors"))("%s is a whole reply whose type reads as the name of the file", (_, example) => {
    expect(fits(cpiResponse, example.content)).toEqual([]);
    const { error, result } = responseOf(example);
    expect(result).toBeNull();
    expect(error?.message).not.toBe("");
    expect(errorNameOf(error?.type ?? "", error?.message ?? "")).toBe(example.parts[0]);
  });

  it("is there for every type that a CPI sends", () => {
    const raisedByCallers = ["AttachDiskResponseError"];
    const sent = Object.keys(CPI_ERRORS).filter((name) => !raisedByCallers.includes(name));
    expect([...new Set(errors.map((example) => example.parts[0]))].sort()).toEqual(sent.sort());
  });

  it("says that trying again helps only for types that carry the flag", () => {
    for (const example of errors) {
      const { error } = responseOf(example);
      const name = errorNameOf(error?.type ?? "", error?.message ?? "");
      if (error?.ok_to_retry) expect(name !== undefined && CPI_ERRORS[name].retryFlag).toBe(true);
    }
  });
});

describe("a document example", () => {
  const plain = [...table("settings"), ...table("stemcell"), ...table("registry")].filter(
    ([, example]) => example.parts[0] !== "encoded-user-data",
  );
  const schemaOf = (example: Example) =>
    example.parts[0] === "settings" ? "agent-settings" : (example.parts[0] ?? "");

  it.each(plain)("%s fits the schema its name begins with", (_, example) => {
    expect(judge(schemaOf(example), example.content)).toEqual([]);
  });

  it.each(table("settings").filter(([, example]) => example.parts[0] === "encoded-user-data"))(
    "%s is decoded to what it stands for",
    (_, example) => {
      const { text, decoded } = example.content as { text: string; decoded: unknown };
      const read = parseUserData(text);
      expect(read).toEqual({ ok: true, userData: { form: "settings", settings: decoded } });
    },
  );

  it.each(table("registry").filter(([, example]) => example.parts[0] === "settings-reply"))(
    "%s holds agent settings, encoded twice, equal to those that were put",
    (_, example) => {
      const settings: unknown = JSON.parse((example.content as { settings: string }).settings);
      expect(fits(agentSettings, settings)).toEqual([]);
      expect(settings).toEqual(readExample(`registry/settings.${example.parts[1]}.json`));
    },
  );

  it.each(table("stemcell"))("%s is read", (_, example) => {
    expect(readStemcellManifest(example.content)).toMatchObject({ ok: true });
  });
});

describe("a draft example", () => {
  const drafts = ["a", "b", "2018-object"];
  const CID = "disk-77a0" as DiskCid;
  const all = drafts.flatMap((draft) => table(`drafts/${draft}`));
  const of = (method: string, which: string) =>
    all.filter(([, { parts }]) => parts[0] === method && parts.at(-1) === which);
  const dialect = (example: Example) => {
    const draft = example.path.split("/")[1] ?? "";
    return draft === "2018-object" ? draft : `draft-${draft}`;
  };
  const capabilitiesOf = (example: Example): Capabilities => {
    const folder = example.path.slice(0, example.path.lastIndexOf("/"));
    if (folder.endsWith("2018-object")) return { attach_disk_takes_disks: true };
    return (
      responseOf({ ...example, content: readExample(`${folder}/info.response.json`) }).result as {
        capabilities: Capabilities;
      }
    ).capabilities;
  };

  it.each(all)("%s fits the envelope", (_, example) => {
    const schema = example.parts.at(-1) === "request" ? cpiRequest : cpiResponse;
    expect(fits(schema, example.content)).toEqual([]);
  });

  it.each(of("info", "response"))("%s announces what it does", (_, example) => {
    expect(fits(infoResult, responseOf(example).result)).toEqual([]);
    expect(Object.keys(capabilitiesOf(example)).length).toBeGreaterThan(0);
  });

  it.each(of("create_vm", "response"))("%s is read as its dialect", (_, example) => {
    const read = parseCreateVmResult(responseOf(example).result, { apiVersion: 2 });
    expect(read).toMatchObject({ ok: true, vm: { dialect: dialect(example), cid: "vm-4c1e" } });
    expect(read.ok && fits(disks, read.vm.disks)).toEqual([]);
  });

  it.each(of("attach_disk", "response"))("%s leads to the disk", (_, example) => {
    const read = parseAttachDiskResult(responseOf(example).result, { apiVersion: 2, diskCid: CID });
    const hint =
      dialect(example) === "draft-a"
        ? { kind: "text", text: "/dev/sdd" }
        : { kind: "path", path: "/dev/sdd" };
    expect(read).toMatchObject({ ok: true, disk: { hint } });
    expect(read.ok && read.disk.disks === undefined).toBe(dialect(example) === "draft-a");
  });

  it.each([...of("attach_disk", "request"), ...of("detach_disk", "request")])(
    "%s has the disks of the VM as third argument exactly where the CPI asked for them",
    (_, example) => {
      const { method, arguments: args } = example.content as CpiRequest;
      const flags = capabilitiesOf(example);
      const wants =
        method === "attach_disk" ? flags.attach_disk_takes_disks : flags.detach_disk_returns_disks;
      expect(argumentsFit(methodOf(method), 2, args.slice(0, 2))).toEqual([]);
      expect(args).toHaveLength(wants ? 3 : 2);
      if (wants) expect(fits(disks, args[2])).toEqual([]);
    },
  );

  it.each(of("create_vm", "request"))("%s has its arguments in the order the CPI asked for", (_, example) => {
    const args = (example.content as CpiRequest).arguments;
    if (!capabilitiesOf(example).bootstrap_settings_arg) {
      expect(argumentsFit(methodOf("create_vm"), 2, args)).toEqual([]);
      return;
    }
    const [stemcell, properties, bootstrap, ...rest] = args;
    expect(fits(agentSettings, bootstrap)).toEqual([]);
    const agent = (bootstrap as { agent_id: string }).agent_id;
    expect(argumentsFit(methodOf("create_vm"), 2, [agent, stemcell, properties, ...rest])).toEqual([]);
  });
});

describe("an invalid example", () => {
  interface Invalid {
    readonly why: string;
    readonly schema: string;
    /** Place that the problem text must name. */
    readonly at: string;
    readonly value: unknown;
  }
  const invalid = table("invalid").map(([path, example]) => [path, example.content as Invalid] as const);

  it.each(invalid)("%s is refused, naming the place", (_, { schema, value, at, why }) => {
    const problems = judge(schema, value);
    expect(why).not.toBe("");
    expect(problems).not.toEqual([]);
    expect(problems.map((problem) => problem.split(": ")[0]).join("\n")).toContain(at);
  });

  it.each(invalid)("%s is not quoted by the refusal", (_, { schema, value }) => {
    // The place is made of keys; what follows it must not be made of values.
    const text = judge(schema, value)
      .map((problem) => problem.slice(problem.indexOf(": ")))
      .join("\n");
    for (const leaf of longLeaves(value)) expect(text).not.toContain(leaf);
  });

  it("is there for every document schema", () => {
    const used = new Set(invalid.map(([, { schema }]) => schema));
    const spared = ["context", "registry-user-data", "disks"];
    expect(Object.keys(DOCUMENTS).filter((name) => !used.has(name) && !spared.includes(name))).toEqual([]);
  });

  /** Texts and numbers that could not stand in a message by chance. */
  function longLeaves(value: unknown): readonly string[] {
    if (typeof value === "object" && value !== null) return Object.values(value).flatMap(longLeaves);
    return value === null || typeof value === "boolean" || String(value).length < 6 ? [] : [String(value)];
  }
});
