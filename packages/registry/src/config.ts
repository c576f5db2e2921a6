import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { secret } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { ConfigInvalid, ConfigUnreadable } from "./errors.ts";
import type { RegistryOptions } from "./server.ts";

const text = v.pipe(v.string(), v.nonEmpty("must not be empty"));
const name = v.pipe(text, v.regex(/^[^:]*$/, "must not contain a colon"));

/** The `http` part is the old registry's; `dir` takes the place of its database. */
const configSchema = v.strictObject({
  http: v.strictObject({
    port: v.optional(
      v.pipe(
        v.number(),
        v.integer("must be whole"),
        v.minValue(0, "is below 0"),
        v.maxValue(65535, "is above 65535"),
      ),
    ),
    host: v.optional(text),
    user: name,
    password: secret(text),
    additional_users: v.optional(v.array(v.strictObject({ username: name, password: secret(text) }))),
    tls: v.optional(v.strictObject({ cert_file: text, key_file: text })),
  }),
  dir: text,
});

/** Reads the configuration. Paths in it are relative to the file itself. */
export async function readConfig(path: string): Promise<RegistryOptions> {
  const checked = check(configSchema, parseStrictJson(await read(path), path));
  if (!checked.ok) throw ConfigInvalid({ path, problems: checked.problems });
  const { http, dir } = checked.value;
  const from = (file: string) => resolve(dirname(path), file);
  return {
    dir: from(dir),
    users: [{ username: http.user, password: http.password }, ...(http.additional_users ?? [])],
    ...(http.host === undefined ? {} : { host: http.host }),
    ...(http.port === undefined ? {} : { port: http.port }),
    ...(http.tls === undefined
      ? {}
      : { tls: { cert: await read(from(http.tls.cert_file)), key: await read(from(http.tls.key_file)) } }),
  };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw ConfigUnreadable({ path }, { cause });
  }
}
