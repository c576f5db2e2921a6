import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Command } from "./command.tsx";

/** A button that changes something. It shows the command that does the same, and asks first. */
export function Action({
  label,
  question,
  command,
  onConfirm,
  children,
}: {
  readonly label: string;
  readonly question: string;
  readonly command: string;
  readonly onConfirm: () => void;
  readonly children?: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <span class="action">
      <button type="button" onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <p>{question}</p>
        {children}
        <p class="faint">
          The same by command: <Command text={command} />
        </p>
        <div class="choices">
          <button type="button" class="plain" onClick={() => dialog.current?.close()}>
            Not now
          </button>
          <button
            type="button"
            class="danger"
            onClick={() => {
              dialog.current?.close();
              onConfirm();
            }}
          >
            {label}
          </button>
        </div>
      </dialog>
    </span>
  );
}
