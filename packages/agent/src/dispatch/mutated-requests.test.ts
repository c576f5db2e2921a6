import { AGENT_MESSAGES, type AgentMessageName } from "@slipway/protocol/agent/messages";
import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ActionTable } from "../actions/action.ts";
import { dispatching } from "./testing/dispatching.ts";

const actions = Object.fromEntries(
  Object.keys(AGENT_MESSAGES).map((name) => [name, async (args: unknown) => args]),
) as unknown as ActionTable;

const names = Object.keys(AGENT_MESSAGES) as AgentMessageName[];

const request = fc.constantFrom(...names).chain((method) =>
  fc.record({
    protocol: fc.constantFrom(undefined, 0, 3),
    method: fc.constant<string>(method),
    arguments: fc.tuple(...AGENT_MESSAGES[method].args.map((arg) => arbitraryFor(arg.schema))),
    reply_to: fc.constantFrom("cli", "director.p.a.r"),
  }),
);

/** Cuts, doubles and replaces characters, and puts other JSON in the place of parts. */
const mutated = fc.oneof(
  request.map((value) => JSON.stringify(value)),
  fc.tuple(request, fc.nat(), fc.nat(12), fc.string({ maxLength: 4 })).map(([value, at, length, text]) => {
    const whole = JSON.stringify(value);
    const start = at % whole.length;
    return whole.slice(0, start) + text + whole.slice(start + length);
  }),
  fc
    .tuple(request, fc.constantFrom("protocol", "method", "arguments", "reply_to", "0", "1"), fc.jsonValue())
    .map(([value, key, other]) =>
      JSON.stringify(
        /^\d$/.test(key)
          ? { ...value, arguments: Object.assign([...value.arguments], { [key]: other }) }
          : { ...value, [key]: other },
      ),
    ),
  fc.string(),
  fc.json(),
);

it("the dispatcher answers any input or calls it unreadable, and goes on", async () => {
  const { handler, ask, tasks } = await dispatching({ actions: { ...actions, ping: async () => "pong" } });
  await fc.assert(
    fc.asyncProperty(mutated, async (body) => {
      const handled = await handler(body, "test");
      if (handled.kind === "reply") {
        expect(JSON.parse(JSON.stringify(handled.reply))).toSatisfy(
          (reply: object) => "value" in reply !== "exception" in reply,
        );
      }
    }),
    { numRuns: tries(500) },
  );
  await tasks.idle();
  expect(await ask("ping")).toEqual({ value: "pong" });
});
