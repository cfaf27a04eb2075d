const KEY = 'gatewatch.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement;

const stored = ()               => {
  const value = read(KEY);
  return value === 'dark' || value === 'light' ? value : null;
};

/** The reader's choice, else the system's. */
export const theme = ()        => stored() ?? (dark.matches ? 'dark' : 'light');

export function applyTheme()       {
  root.dataset['theme'] = theme();
}

export function toggleTheme()       {
  write(KEY, theme() === 'dark' ? 'light' : 'dark');
  applyTheme();
}

/** Calls back when the system changes its mind. */
export function onSystemTheme(changed            )       {
  dark.addEventListener('change', () => {
    applyTheme();
    changed();
  });
}

/** Storage may be switched off: then choices live as long as the page. */
const memory = new Map                ();
export function read(key        )                {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.get(key) ?? null;
  }
}
export function write(key        , value        )       {
  try {
    localStorage.setItem(key, value);
  } catch {
    memory.set(key, value);
  }
}
