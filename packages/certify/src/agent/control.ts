import type { Exec } from "@slipway/kernel/exec";
import { CannotTell } from "../expect.ts";

/** Action that the control takes outside the agent; the words are the last arguments of the control's command. */
export type ControlAction =
  /** Ends the agent without warning, takes away what it had mounted, and starts it again, as a reboot does. */
  | readonly ["restart", "https" | "nats"]
  /** Takes away what the agent over HTTPS reads its settings from, and brings it back. */
  | readonly ["source", "away" | "back"]
  /** Stops the NATS server, starts it, or starts one in its place whose certificate has another name. */
  | readonly ["bus", "stop" | "start" | "impostor"]
  /**
   * Gives the image disk an XFS file system with a file in it, makes the disk twice as large, or looks from outside
   * whether both are still there and whether the file system has the larger disk's size.
   */
  | readonly ["disk", "xfs" | "enlarge" | "kept" | "grown"]
  /** Plays, with an agent of its own, everything that `bosh create-env` or a Director asks of one. */
  | readonly ["story", "create-env" | "director"];

/** Resolves when it is done; an agent that was started need not answer yet. */
export type AgentControl = (...deed: ControlAction) => Promise<void>;

/** The exit code by which a control says that this is nothing it can do. */
const CANNOT = 3;

/** A control that is a program. */
export function commandControl(command: readonly string[], exec: Exec): AgentControl {
  const [program = "", ...args] = command;
  return async (...deed) => {
    const { code, stderr } = await exec(program, [...args, ...deed]);
    if (code === 0) return;
    const said = stderr.trim() || `it ended with ${code}`;
    if (code === CANNOT) throw new CannotTell(`the control cannot do "${deed.join(" ")}": ${said}`);
    throw new Error(`the control failed at "${deed.join(" ")}": ${said}`);
  };
}
