import { expect, it } from "vitest";
import { readProxyUrl } from "./proxy-url.ts";

const read = (text: string) => readProxyUrl(text, "BOSH_ALL_PROXY");

it.each([
  ["socks5://10.0.0.5:1080", { host: "10.0.0.5", port: 1080 }],
  ["socks5://proxy.example", { host: "proxy.example", port: 1080 }],
  ["socks5h://proxy.example:9", { host: "proxy.example", port: 9 }],
  ["127.0.0.1:9", { host: "127.0.0.1", port: 9 }],
  ["socks5://[fd00::5]:9", { host: "fd00::5", port: 9 }],
  ["socks5://me:p%40ss@h:9", { host: "h", port: 9, user: "me", password: "p@ss" }],
])("%s is a proxy", (text, proxy) => {
  expect(read(text)).toEqual({ kind: "socks5", proxy: { user: undefined, password: undefined, ...proxy } });
});

const JUMPBOX = { host: "jump.example", port: 22, user: "jumpbox", key: "/keys/it", strict: false };

it.each([
  ["ssh+socks5://jump.example?private-key=/keys/it", {}],
  ["ssh+socks5://me@jump.example:2222?private-key=/keys/it", { user: "me", port: 2222 }],
  [
    "ssh+socks5://jump.example?private-key=/a%20b&strict-host-key-checking=true",
    { key: "/a b", strict: true },
  ],
])("%s is a jumpbox", (text, jumpbox) => {
  expect(read(text)).toEqual({ kind: "ssh", jumpbox: { ...JUMPBOX, ...jumpbox } });
});

it.each([
  ["socks5://", "it names no host"],
  ["socks5://u:CANARY@h:port", "it is no URL"],
  ["socks5://u:CANARY%@h:1", "a % that is not written as %25"],
  ["http://u:CANARY@h:1", "it begins with http://"],
  ["ssh+socks5://u:CANARY@h", "private-key, the path"],
  ["ssh+socks5://-oX@h?private-key=/k", "its user has no name"],
  ["ssh+socks5://u@-oX?private-key=/k", "it names no host"],
  ["ssh+socks5://u@h?private-key=/k&strict-host-key-checking=maybe", "is true or false"],
])("%s is neither, and nothing secret of it is said", (text, why) => {
  let error: unknown;
  try {
    read(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: "CLI-050", message: expect.stringContaining(why) });
  expect(String(error)).toContain("BOSH_ALL_PROXY");
  expect(String(error)).not.toContain("CANARY");
});
