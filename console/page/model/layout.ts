import type { Panel } from './types.ts';

/** A row and what it holds; panels above the first row stand in one without a title. */
export interface Section {
  readonly id: number;
  readonly title: string;
  readonly collapsed: boolean;
  readonly panels: readonly Panel[];
}

/** Panels belong to the row above them; a collapsed row carries its own. */
export function sectionsOf(panels: readonly Panel[]): Section[] {
  const sections: { id: number; title: string; collapsed: boolean; panels: Panel[] }[] = [];
  const ordered = panels.toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x);
  for (const panel of ordered) {
    if (panel.type === 'row')
      sections.push({
        id: panel.id,
        title: panel.title ?? '',
        collapsed: panel.collapsed ?? false,
        panels: [...(panel.panels ?? [])],
      });
    else {
      if (sections.length === 0) sections.push({ id: 0, title: '', collapsed: false, panels: [] });
      sections.at(-1)?.panels.push(panel);
    }
  }
  return sections.filter(({ title, panels: inner }) => title !== '' || inner.length > 0);
}
