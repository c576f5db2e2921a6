import { configComparison, type configSide } from "@slipway/protocol/director/config";
import { configDiff } from "@slipway/protocol/director/diff";
import type * as v from "valibot";
import type { Side } from "../../documents/questions.ts";
import { latestConfig } from "../../store/configs.ts";
import type { Db } from "../../store/schema.ts";
import type { Call } from "../call.ts";
import { demandConfig } from "../change-config.ts";
import { difference, keysOf } from "../documents.ts";
import { BadConfigRequest } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { configOf } from "./get_configs_id.ts";

const number = 440011;

/** Two configs against each other, or new content against what is there. Always redacted. */
export const postConfigsDiff = endpoint(
  { body: configComparison, reply: configDiff },
  async (call, { db, documents }) => {
    const { from, to, type, name, content } = await call.json();
    if (from !== undefined && to !== undefined) {
      const [before, after] = [await givenOf(call, db, from, "from"), await givenOf(call, db, to, "to")];
      // Only what was stored once may be unreadable today.
      if (!before.stored) await keysOf(documents, { ...before, number });
      if (!after.stored) await keysOf(documents, { ...after, number });
      const sides = { before: sideOf(before), after: sideOf(after) };
      return difference(documents, { ...sides, redact: true, number }, {});
    }
    if (!type || !name || content === undefined) {
      throw BadConfigRequest({ why: "give 'type', 'name' and 'content', or 'from' and 'to'" });
    }
    const latest = await latestConfig(db, type, name);
    if (latest !== undefined) demandConfig(call.access, type, latest);
    const before: Side = { main: { text: latest?.content, loose: true } };
    const after: Side = { main: { text: content, what: `the ${type} config` } };
    return difference(
      documents,
      { before, after, redact: true, number },
      { from: { id: String(latest?.id ?? 0) } },
    );
  },
);

interface Given {
  readonly text: string;
  readonly what: string;
  readonly stored: boolean;
}

const sideOf = ({ text }: Given): Side => ({ main: { text, loose: true } });

async function givenOf(
  { access }: Pick<Call, "access">,
  db: Db,
  { id, content }: v.InferOutput<typeof configSide>,
  name: string,
): Promise<Given> {
  const known = String(id ?? "");
  if ((known === "") === !content) {
    throw BadConfigRequest({ why: `'${name}' of the comparison must have either an id or content` });
  }
  if (known === "") return { text: content ?? "", what: `'${name}'`, stored: false };
  const config = await configOf(db, known);
  demandConfig(access, config.type, config);
  return { text: config.content, what: `'${name}'`, stored: true };
}
