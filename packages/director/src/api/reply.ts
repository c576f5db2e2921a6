/** What an endpoint answers. The server turns it into HTTP. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Compact: the CLI looks for `"code":440012` without a blank. */
export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

export const plain = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { "content-type": "text/plain;charset=utf-8", ...headers },
  body,
});

export const nothing = (status = 204): Reply => ({ status, headers: {}, body: "" });

/** Relative: an absolute one behind a proxy is how one command becomes five tasks. */
export const toTask = (id: number): Reply => ({
  status: 302,
  headers: { location: `/tasks/${id}` },
  body: "",
});
