import { DOCUMENTS, METHOD_VERSIONS } from "@slipway/testkit/wire-documents";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { argsIn, resultIn } from "../cpi/method.ts";
import { agentSettings } from "../settings/agent-settings.ts";
import { diskHintWire } from "../settings/disk-hint.ts";
import { fieldDocs, typeText } from "./describe.ts";
import { integer, json, jsonObject, mapOf, open, text } from "./json.ts";
import { doc, hidden, type Schema, secret } from "./marks.ts";

describe("the short type of a schema", () => {
  it.each<[string, Schema]>([
    ["string", v.string()],
    ["string", text("x")],
    ["number", integer(1)],
    ["boolean", v.boolean()],
    ["any", json()],
    ["any", v.unknown()],
    ["any", v.optional(json())],
    ["object", jsonObject()],
    ["string", secret(v.string())],
    ["object", hidden(jsonObject())],
    ["string or null", v.nullable(v.string())],
    ["string or null", v.nullish(v.string())],
    ["string", v.optional(v.string())],
    ["array of string", v.array(v.string())],
    ["array of string or null", v.nullable(v.array(v.string()))],
    ["map of string", mapOf(v.string())],
    ["map of object", mapOf(open({ a: v.string() }))],
    ['"a" or "b"', v.picklist(["a", "b"])],
    ['"ok"', v.literal("ok")],
    ["string or number", v.union([text("x"), v.number()])],
    ["[string, object]", v.strictTuple([v.string(), open({ a: v.string() })])],
    ["{a, b}", open({ a: v.string(), b: v.string() })],
    ["object", open({})],
    ["object", open({ a: v.string(), b: v.string(), c: v.string(), d: v.string(), e: v.string() })],
    ["string or object", diskHintWire],
  ])("is %s", (expected, schema) => {
    expect(typeText(schema)).toBe(expected);
  });

  it("is there for every argument, result and document, and names no part of the library", () => {
    const schemas = METHOD_VERSIONS.flatMap(([version, method]) => [
      ...argsIn(method, version).map((argument) => argument.schema),
      resultIn(method, version).schema,
    ]);
    for (const schema of [...schemas, ...Object.values(DOCUMENTS)]) {
      expect(typeText(schema)).not.toBe("");
      expect(typeText(schema)).not.toMatch(/custom|loose|strict|record|undefined/);
    }
  });

  it("a result that callers ignore has the type `any`", () => {
    const deleted = METHOD_VERSIONS.find(([, method]) => method.name === "delete_vm")?.[1];
    expect(deleted && typeText(resultIn(deleted, 2).schema)).toBe("any");
  });
});

describe("the fields of a document", () => {
  const schema = open({
    name: doc(v.string(), "who"),
    note: v.optional(doc(v.nullable(secret(v.string())), "between the layers")),
    outside: doc(v.optional(v.string()), "around"),
    urls: v.optional(v.nullable(v.array(secret(v.string())))),
    props: v.optional(v.nullable(hidden(jsonObject()))),
    nets: v.optional(mapOf(open({ ip: v.string() }))),
    routes: v.array(open({ to: doc(v.string(), "where") })),
  });
  const rows = Object.fromEntries(fieldDocs(schema).map((row) => [row.path, row]));

  it("are rows with path, type and whether they must be there, parents before children", () => {
    expect(fieldDocs(schema).map((row) => row.path)).toEqual([
      ...["name", "note", "outside", "urls", "props", "nets", "nets.*.ip", "routes", "routes[].to"],
    ]);
    expect(rows.name).toEqual({
      path: "name",
      type: "string",
      required: true,
      shown: "shown",
      doc: "who",
    });
    expect(rows.nets).toMatchObject({ type: "map of object", required: false });
    expect(rows["nets.*.ip"]).toMatchObject({ type: "string", required: true });
    expect(rows["routes[].to"]).toMatchObject({ doc: "where" });
  });

  it("keep their sentence at whichever layer it was given", () => {
    expect(rows.note).toMatchObject({ doc: "between the layers", required: false });
    expect(rows.outside).toMatchObject({ doc: "around", required: false });
  });

  it("say what is never shown, also for the items of a list", () => {
    expect(rows.note?.shown).toBe("secret");
    expect(rows.urls?.shown).toBe("secret");
    expect(rows.props?.shown).toBe("hidden");
  });

  it("the vcap password and the bus of the agent settings are secrets", () => {
    const settings = Object.fromEntries(fieldDocs(agentSettings).map((row) => [row.path, row]));
    expect(settings.agent_id).toMatchObject({ required: true, shown: "shown" });
    expect(settings["env.bosh.password"]).toMatchObject({
      shown: "secret",
      doc: "crypt hash for the vcap user",
    });
    expect(settings["env.bosh.mbus.cert.private_key"]).toMatchObject({ shown: "secret" });
    expect(settings["env.bosh.mbus.urls"]).toMatchObject({ shown: "secret" });
    expect(settings.mbus).toMatchObject({ shown: "secret" });
    expect(settings["networks.*.cloud_properties"]).toMatchObject({ shown: "hidden" });
    expect(settings["networks.*.ip"]).toMatchObject({ shown: "shown", required: false });
    expect(settings["disks.system"]).toMatchObject({ type: "string" });
  });
});
