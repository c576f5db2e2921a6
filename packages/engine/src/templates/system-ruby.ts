import { dirname } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded, withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import type { Exec, ExecResult } from "@slipway/kernel/exec";
import { SystemRubyFailed } from "./errors.ts";
import type { Renderer, Rendering, RenderRequest } from "./request.ts";
import { RUBY_PROGRAM } from "./ruby-program.ts";
import { decodeAnswer, encodeRequest } from "./ruby-wire.ts";

export interface SystemRubyOptions {
  /** The path of the Ruby, as configured. */
  readonly ruby: string;
  /** An existing directory: what it sees as the root is put over it, for it alone. */
  readonly over: string;
  readonly exec: Exec;
  readonly clock: Clock;
  /** How long one job's templates may take, in milliseconds. */
  readonly limit: number;
}

const MEMORY_KIB = 1024 * 1024;
/** 64 MiB: what the largest jobs render to, many times over. */
const MOST_ANSWER = 64 * 2 ** 20;

/** Its libraries are there. */
const SYSTEM = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr"];

/**
 * A root that holds the system's programs, and the Ruby's own directory where it is not among them: all of it to be read
 * only. Nothing of a template is in this, and nothing is put into it: all that varies are its arguments.
 */
const IN_NAMESPACES = `
limit=$1 ruby=$2 program=$3 root=$4 own=$5
shift 5
show() {
  mkdir -p "$root$1" && mount --rbind "$1" "$root$1" && mount -o remount,bind,ro,nosuid,nodev "$root$1" || exit 97
}
mount -t tmpfs -o size=64k,mode=755 none "$root" || exit 97
for dir; do
  if [ -L "$dir" ]; then ln -s "$(readlink "$dir")" "$root$dir"
  elif [ -d "$dir" ]; then show "$dir"
  fi
done
[ -z "$own" ] || show "$own"
mkdir "$root/dev" && touch "$root/dev/null" && mount --bind /dev/null "$root/dev/null" || exit 97
mount -o remount,bind,ro,nosuid,nodev "$root" || exit 97
ulimit -v "$limit"
exec chroot "$root" setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \\
  "$ruby" -EUTF-8 --disable-gems -e "$program"
`;

const MAIN = `${RUBY_PROGRAM}
request = STDIN.read
out = STDOUT.dup
STDOUT.reopen(File::NULL)
STDERR.reopen(File::NULL)
out.write(SlipwayTemplates.render(request))
`;

const NAMESPACES = ["--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child"];

/**
 * Runs one process of a system's Ruby for each job: several times faster than the built-in one, for operators who trust it. If
 * it takes too long or dies, only the template that did it fails: the others of its job are rendered again, one by one.
 */
export function systemRuby(options: SystemRubyOptions): Renderer {
  const { ruby, over, exec, clock, limit } = options;
  const ask = async (request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> => {
    const given = [String(MEMORY_KIB), ruby, MAIN, over, ownDirectory(ruby), ...SYSTEM];
    const args = [...NAMESPACES, "sh", "-c", IN_NAMESPACES, "sh", ...given];
    const input = encodeRequest(request);
    const result = await withDeadline(`rendering with ${ruby}`, limit, clock, signal, (cut) =>
      exec("unshare", args, { input, signal: cut, keep: MOST_ANSWER }),
    );
    if (result.code !== 0) throw SystemRubyFailed({ ruby, why: whyOf(result) });
    return decodeAnswer(result.stdout, request);
  };
  const render = async (request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> => {
    const [template, ...others] = request.templates;
    if (template === undefined) return [];
    try {
      return await ask(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!SystemRubyFailed.is(error) && !DeadlineExceeded.is(error)) throw error;
      if (others.length > 0) return await oneByOne(request, signal);
      // One that renders nothing at all is not the template's fault.
      await ask({ ...request, templates: [{ name: "", source: new Uint8Array() }] }, signal);
      return [{ name: template.name, line: undefined, message: messageTrail(error) }];
    }
  };
  const oneByOne = async (request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> => {
    const found: Rendering[] = [];
    for (const template of request.templates)
      found.push(...(await render({ ...request, templates: [template] }, signal)));
    return found;
  };
  // Templates see the programs and libraries of the system, which change without notice.
  const identity = async () => undefined;
  return { identity, render, close: async () => undefined };
}

/** `/opt/ruby` of `/opt/ruby/bin/ruby`; empty where it is one of the system. */
const ownDirectory = (ruby: string): string =>
  SYSTEM.some((dir) => ruby.startsWith(`${dir}/`)) ? "" : dirname(dirname(ruby));

const whyOf = ({ code, stderr }: ExecResult): string =>
  stderr.trim() === "" ? `it ended with ${code}` : (stderr.trim().split("\n").at(-1) ?? "");
