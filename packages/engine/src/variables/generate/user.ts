import * as v from "valibot";
import { type Generator, readOptions } from "./generator.ts";
import { password } from "./password.ts";
import { sha512Crypt } from "./sha512-crypt.ts";

const OPTIONS = {
  username: v.nullish(v.string("must be a string")),
  length: v.nullish(v.number("must be a number")),
};

/** The hash is that of `/etc/shadow`: what `env.bosh.password` takes. */
export const user: Generator = async (options, around) => {
  const { username, length } = readOptions("user", OPTIONS, options, around);
  const secret = String(await password({ length }, around));
  return {
    username: username || String(await password(null, around)),
    password: secret,
    password_hash: sha512Crypt(secret, String(await password({ length: 16 }, around))),
  };
};
