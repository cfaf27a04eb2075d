import type { Theme } from '../model/colours.ts';

const KEY = 'gatewatch.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement;

const stored = (): Theme | null => {
  const value = read(KEY);
  return value === 'dark' || value === 'light' ? value : null;
};

/** The reader's choice, else the system's. */
export const theme = (): Theme => stored() ?? (dark.matches ? 'dark' : 'light');

export function applyTheme(): void {
  root.dataset['theme'] = theme();
}

export function toggleTheme(): void {
  write(KEY, theme() === 'dark' ? 'light' : 'dark');
  applyTheme();
}

/** Calls back when the system switches between dark and light. */
export function onSystemTheme(changed: () => void): void {
  dark.addEventListener('change', () => {
    applyTheme();
    changed();
  });
}

/** Storage may be switched off: then choices live as long as the page. */
const memory = new Map<string, string>();
export function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.get(key) ?? null;
  }
}
export function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    memory.set(key, value);
  }
}
