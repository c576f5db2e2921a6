import { fits } from "@slipway/testkit/wire-documents";
import { readExamples } from "@slipway/testkit/wire-examples";
import { describe, expect, it } from "vitest";
import { redact } from "../schema/redact.ts";
import { messageNamed } from "./messages.ts";

const examples = readExamples("agent").map((example) => [example.path, example] as const);

describe("an example of an agent's messages", () => {
  it.each(examples)(
    "%s fits the schemas of its message, and shows no secret when it is logged",
    (_, example) => {
      const message = messageNamed(example.parts[0] ?? "");
      if (message === undefined) throw new Error(`there is no message ${example.parts[0]}`);
      if (example.parts.at(-1) === "result") {
        expect(fits(message.result, example.content)).toEqual([]);
        return;
      }
      expect(example.parts.at(-1)).toBe("arguments");
      const given = example.content as readonly unknown[];
      expect(given).toHaveLength(message.args.length);
      message.args.forEach(({ name, schema }, at) => {
        expect(fits(schema, given[at], name)).toEqual([]);
        expect(JSON.stringify(redact(schema, given[at]))).not.toContain("FAKE-");
      });
    },
  );
});
