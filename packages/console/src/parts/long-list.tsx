import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

const ROW_PX = 30;
const SHOWN_ROWS = 20;
/** Rows above and below what is visible, so that scrolling shows no gaps. */
const SPARE_ROWS = 10;

/**
 * A list of any length: only the rows that are visible exist. The arrow keys, Home and End move the current row, Enter
 * opens it.
 */
export function LongList({
  label,
  count,
  row,
  onOpen,
  follow = false,
  shown = SHOWN_ROWS,
  rowPx = ROW_PX,
}: {
  readonly label: string;
  readonly count: number;
  readonly row: (index: number) => ComponentChildren;
  readonly onOpen?: (index: number) => void;
  /** Scrolls with new rows while the end is visible. */
  readonly follow?: boolean;
  readonly shown?: number;
  readonly rowPx?: number;
}) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [current, setCurrent] = useState(-1);
  const atEnd = useRef(true);
  const rows = Math.min(count, shown);
  const first = Math.max(0, Math.min(Math.floor(top / rowPx), count - rows) - SPARE_ROWS);
  const last = Math.min(count, first + rows + 2 * SPARE_ROWS);

  useEffect(() => {
    const element = box.current;
    if (follow && atEnd.current && element !== null) element.scrollTop = count * rowPx;
  }, [count, follow, rowPx]);

  const move = (index: number) => {
    const to = Math.max(0, Math.min(count - 1, index));
    setCurrent(to);
    const element = box.current;
    if (element === null) return;
    if (to * rowPx < element.scrollTop) element.scrollTop = to * rowPx;
    const below = (to + 1) * rowPx - element.clientHeight;
    if (below > element.scrollTop) element.scrollTop = below;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: count - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(to);
    } else if (event.key === "Enter" && current >= 0) onOpen?.(current);
  };

  const items = [];
  for (let index = first; index < last; index++) {
    items.push(
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and takes the keys for all of its rows.
      <div
        key={index}
        id={`${id}-${index}`}
        class={index === current ? "row current" : "row"}
        role="option"
        tabIndex={-1}
        aria-selected={index === current}
        aria-posinset={index + 1}
        aria-setsize={count}
        style={{ top: `${index * rowPx}px`, height: `${rowPx}px` }}
        onClick={() => {
          setCurrent(index);
          onOpen?.(index);
        }}
      >
        {row(index)}
      </div>,
    );
  }
  return (
    <div
      ref={box}
      class="long-list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={current >= first && current < last ? `${id}-${current}` : undefined}
      style={{ height: `${Math.max(1, rows) * rowPx + 2}px` }}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => {
        setTop(currentTarget.scrollTop);
        atEnd.current =
          currentTarget.scrollTop + currentTarget.clientHeight >= currentTarget.scrollHeight - rowPx;
      }}
    >
      <div class="rows" style={{ height: `${count * rowPx}px` }}>
        {items}
      </div>
    </div>
  );
}
