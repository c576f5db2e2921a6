import type { Renderer } from "@slipway/engine/templates/request";
import type { Clock } from "@slipway/kernel/clock";

const REST_MS = 60_000;

/** A renderer that is there while it is used and for a while after: a Ruby that idles holds much memory. */
export function restingRenderer(make: () => Renderer, clock: Clock): Renderer {
  let current: Renderer | undefined;
  let users = 0;
  let cancel = () => {};
  const rest = async () => {
    const idle = current;
    current = undefined;
    await idle?.close();
  };
  return {
    render: async (request, signal) => {
      cancel();
      users += 1;
      try {
        current ??= make();
        return await current.render(request, signal);
      } finally {
        users -= 1;
        if (users === 0) cancel = clock.after(REST_MS, () => void rest().catch(() => undefined));
      }
    },
    close: async () => {
      cancel();
      await rest();
    },
  };
}
