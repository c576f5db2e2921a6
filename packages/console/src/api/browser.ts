/** The browser's clock and timers. Everything else of the console takes them from here. */
export const browser = {
  /** Milliseconds since 1970. */
  now: (): number => Date.now(),
  /** Calls back after `ms`; the returned function cancels. */
  after: (ms: number, callback: () => void): (() => void) => {
    const timer = window.setTimeout(callback, ms);
    return () => window.clearTimeout(timer);
  },
  /** Sends a request without cookies and without passwords that the browser has kept. */
  send: (path: string, init: RequestInit): Promise<Response> =>
    window.fetch(new URL(path.replace(/^\//, ""), document.baseURI), {
      ...init,
      credentials: "omit",
      cache: "no-store",
    }),
};
