import { systemCode } from "@slipway/kernel/errors";
import { variableChange, variableValue } from "@slipway/protocol/director/variable";
import type { Command, TypedInput } from "../command.ts";
import type { Tools } from "../tools.ts";
import { CannotAskFor } from "../ui/errors.ts";
import { EmptyValue, FileNotWritten, NoValueGiven } from "./errors.ts";

const name = {
  name: "<name>",
  about: "absolute, such as /director/shop/admin, or with -d as the manifest has it",
};

/** Ours: upstream leaves this to the program of the config server. */
export const variableGet: Command = {
  name: "variable get",
  summary: "print the value of a variable that the Director keeps",
  topic: "deployments",
  arguments: [name],
  options: [
    { flags: "--key <key>", about: "only this key of it: certificate, private_key, ca" },
    { flags: "--output <file>", about: "write it to a file that only you may read" },
  ],
  examples: [["slipway -d shop variable get admin_password", "the reading is an event"]],
  async run(given, tools) {
    const { ui } = tools;
    const api = await tools.director();
    const query = nameOf(given, tools);
    const { value } = await api.json({ method: "GET", path: "/variable", query }, variableValue);
    const [{ isObject }, { BadArgument }, { writeDocument }] = await Promise.all([
      import("@slipway/protocol/schema/json"),
      import("../parse/errors.ts"),
      import("../documents/write-document.ts"),
    ]);
    const key = given.text("key");
    if (key !== undefined && !(isObject(value) && Object.hasOwn(value, key)))
      throw BadArgument({ what: "a key of the variable", given: key });
    const shown = key === undefined || !isObject(value) ? value : value[key];
    const text = typeof shown === "string" ? shown : writeDocument(shown);
    const whole = text.endsWith("\n") ? text : `${text}\n`;
    const file = given.text("output");
    if (file === undefined) ui.block(whole);
    else {
      const { writeFileAtomic } = await import("@slipway/kernel/atomic-file");
      await writeFileAtomic(file, whole, 0o600).catch((cause: unknown) => {
        throw FileNotWritten({ path: file, why: systemCode(cause) ?? "it failed" }, { cause });
      });
    }
    return 0;
  },
};

/** Ours, as `variable get`. */
export const variableSet: Command = {
  name: "variable set",
  summary: "give a variable that the Director keeps another value",
  topic: "deployments",
  arguments: [name],
  options: [
    { flags: "--file <file>", about: "the value; - is standard input. Without it you are asked" },
    { flags: "--yaml", about: "the value is a document: a certificate with its keys, a map, a number" },
  ],
  examples: [["slipway -d shop variable set license --file license.txt", "deploy afterwards"]],
  async run(given, tools) {
    const file = given.text("file");
    const { readTextOrInput } = await import("../interpolate/read-text.ts");
    const text =
      file === undefined
        ? await askFor(given.argument(0) ?? "", tools)
        : (await readTextOrInput("value", file)).replace(/\n$/, "");
    if (text === "") throw EmptyValue({ name: given.argument(0) ?? "" });
    const { parseYaml } = await import("@slipway/engine/documents/yaml");
    const value: unknown = given.flag("yaml")
      ? parseYaml(text, file === undefined || file === "-" ? "the value" : file)
      : text;
    return await change("PUT", "/variable", { ...nameOf(given, tools), value }, tools);
  },
};

/** Ours, as `variable get`. */
export const variableRegenerate: Command = {
  name: "variable regenerate",
  summary: "let the Director generate a variable again, and rotate an authority step by step",
  topic: "deployments",
  arguments: [name],
  options: [{ flags: "--at-once", about: "an authority: no time in which both are trusted" }],
  examples: [["slipway -d shop variable regenerate admin_password", "then deploy what it names"]],
  async run(given, tools) {
    const body = { ...nameOf(given, tools), at_once: given.flag("at-once") };
    return await change("POST", "/variable/regeneration", body, tools);
  },
};

async function askFor(name: string, { ui }: Tools): Promise<string> {
  try {
    return await ui.ask("Value", { hidden: true });
  } catch (error) {
    if (CannotAskFor.is(error)) throw NoValueGiven({ name }, { cause: error });
    throw error;
  }
}

function nameOf(given: TypedInput, { deployment }: Tools) {
  const asked = given.argument(0) ?? "";
  const of = asked.startsWith("/") ? undefined : deployment;
  return { name: asked, ...(of !== undefined && { deployment: of }) };
}

async function change(
  method: "PUT" | "POST",
  path: string,
  body: object,
  { ui, director }: Tools,
): Promise<number> {
  const api = await director();
  const sent = { method, path, contentType: "application/json", body: JSON.stringify(body) };
  const { variables, step, deployments } = await api.json(sent, variableChange);
  ui.table({
    content: "variables",
    header: { name: "Name", id: "ID" },
    rows: variables.map((one) => [one.name, one.id]),
  });
  const deploy = deployments.map((one) => `'${one}'`).join(", ");
  if (deployments.length > 0) ui.note(`Deploy again, or they keep the earlier version: ${deploy}`);
  if (step !== undefined) ui.note(NEXT[step]);
  return 0;
}

const NEXT = {
  start: "Both authorities are trusted, and the old one signs. When all is deployed, run this again.",
  switch: "The new authority signs, and both are trusted. When all is deployed, run this again.",
  finish: "Only the new authority is trusted. When all is deployed, the rotation is done.",
};
