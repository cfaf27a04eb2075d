const context = document.createElement('canvas').getContext('2d');
const widths = new Map                ();

/** Width of a text in CSS pixels. @param font as CSS has it, e.g. `600 13px`; the page's family is added */
export function textWidth(text        , font        )         {
  const key = `${font}|${text}`;
  const known = widths.get(key);
  if (known !== undefined || context === null) return known ?? text.length * 8;
  context.font = `${font} ${getComputedStyle(document.documentElement).fontFamily}`;
  const { width } = context.measureText(text);
  if (widths.size > 5000) widths.clear();
  widths.set(key, width);
  return width;
}
