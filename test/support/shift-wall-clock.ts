/**
 * Loaded before a program (`node --import`): its wall clock is off by WALL_CLOCK_SHIFT_MS, as if somebody had
 * set it. The monotonic clock and all that waits run on.
 */
const shiftMs = Number(process.env['WALL_CLOCK_SHIFT_MS'] ?? 0);

globalThis.Date = new Proxy(Date, {
  construct: (target, given: [], newTarget: typeof Date) =>
    Reflect.construct(target, given.length === 0 ? [target.now() + shiftMs] : given, newTarget) as Date,
  get: (target, name, receiver) =>
    name === 'now' ? () => target.now() + shiftMs : (Reflect.get(target, name, receiver) as unknown),
});
