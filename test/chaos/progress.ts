export interface Figures {
  readonly events: number;
  readonly ofEvents: number;
  readonly watched: number;
  readonly kills: number;
}

/** Shows a person how far a run is: what it does, whenever that changes, and figures every few seconds. */
export interface Progress {
  watch(figures: () => Figures): void;
  step(name: string): void;
  say(line: string): void;
  stop(): void;
}

const EVERY_MS = 10_000;

export function createProgress(write: (text: string) => void): Progress {
  const startedAtMs = performance.now();
  let figures: (() => Figures) | null = null;
  let step = '';
  const line = (text: string): void => {
    const seconds = Math.floor((performance.now() - startedAtMs) / 1000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    write(`${clock.padStart(6)}  ${text}\n`);
  };
  const show = (): void => {
    if (figures === null) return;
    const { events, ofEvents, watched, kills } = figures();
    const number = (value: number) => value.toLocaleString('en');
    line(
      `${number(events)} of ${number(ofEvents)} events, ${kills} kills, ${number(watched)} orders watched · ${step}`,
    );
  };
  const timer = setInterval(show, EVERY_MS);
  return {
    watch: (source) => void (figures = source),
    step: (name) => void (step = name),
    say: line,
    stop: () => clearInterval(timer),
  };
}
