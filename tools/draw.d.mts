export function draw(text: string): string;
export function read(text: string): readonly object[];
