// Runs before the page is drawn, so that it never flashes in the other theme.
{
  let stored = null;
  try {
    stored = localStorage.getItem('gatewatch.theme');
  } catch {
    // No storage: the system's choice.
  }
  const dark =
    stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}
