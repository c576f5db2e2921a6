import type { Renderer, RenderPool } from "@slipway/engine/templates/request";
import type { JsonObject } from "@slipway/protocol/schema/json";

const BROKEN = "broken: ";

/** No template here asks which release it is of: it would change with every version. */
const asked = ({ release: _, ...rest }: JsonObject): string => JSON.stringify(rest);

/**
 * Puts the context under every template: what an instance is told shows in what it runs, without a Ruby. A template that
 * begins with `broken: ` fails with what follows.
 */
const simRenderer: Renderer = {
  identity: () => Promise.resolve("sim"),
  render: ({ templates, context }) =>
    Promise.resolve(
      templates.map(({ name, source }) => {
        const text = Buffer.from(source).toString();
        if (text.startsWith(BROKEN)) return { name, line: 1, message: text.slice(BROKEN.length) };
        return { name, text: Buffer.from(text + asked(context)) };
      }),
    ),
  close: () => Promise.resolve(),
};

export const simRenderPool: RenderPool = { open: () => simRenderer, close: () => Promise.resolve() };
