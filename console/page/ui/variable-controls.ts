import type { ChosenValues, VariableOption } from '../../../schemas/console.ts';
import type { Dashboard, Variable } from '../model/types.ts';
import { ALL, isChoice } from '../model/url-state.ts';
import { h, icon } from './dom.ts';
import { popover } from './popover.ts';

export interface VariableControls {
  readonly element: HTMLElement;
  /** Options of the variables that a query fills, and what is chosen. */
  update(options: Readonly<Record<string, readonly VariableOption[]>>, chosen: ChosenValues): void;
}

/** What is chosen now, and what there is to choose from. */
interface Shown {
  readonly chosen: ChosenValues;
  readonly options: Readonly<Record<string, readonly VariableOption[]>>;
}

/** The control of one variable. */
interface Control {
  readonly element: HTMLElement;
  update(shown: Shown): void;
}

type Choose = (name: string, values: readonly string[]) => void;

/** A list or a text field for each variable. */
export function createVariableControls(
  board: Dashboard,
  chosen: ChosenValues,
  choose: Choose,
): VariableControls {
  const controls = (board.templating?.list ?? [])
    .filter(isChoice)
    .map((variable) =>
      variable.type === 'textbox' ? createTextField(variable, choose) : createChoice(variable, choose),
    );
  const element = h(
    'form',
    { class: 'variables', role: 'search', 'aria-label': 'Filters' },
    ...controls.map((control) => control.element),
  );
  element.addEventListener('submit', (event) => event.preventDefault());
  const update: VariableControls['update'] = (options, values) => {
    for (const control of controls) control.update({ options, chosen: values });
  };
  update({}, chosen);
  return { element, update };
}

const labelOf = ({ label, name }: Variable): string => label ?? name;

function createTextField(variable: Variable, choose: Choose): Control {
  const input = h('input', {
    id: `var-${variable.name}`,
    type: 'search',
    size: 40,
    maxlength: 300,
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: variable.description ?? '',
    onchange: () => choose(variable.name, [input.value.trim()]),
  });
  return {
    element: h('label', { class: 'variable', for: input.id }, h('span', {}, labelOf(variable)), input),
    update({ chosen }) {
      // What somebody is typing is not overwritten.
      if (document.activeElement !== input) input.value = chosen[variable.name]?.[0] ?? '';
    },
  };
}

function createChoice(variable: Variable, choose: Choose): Control {
  const label = labelOf(variable);
  let values: readonly string[] = [];
  let options: readonly VariableOption[] = [];
  const text = h('span', { class: 'variable-value' });
  const button = h(
    'button',
    { type: 'button', class: 'variable-button', 'aria-label': '' },
    text,
    icon('down'),
  );
  const box = popover(button, `Choose ${label}`, (list, close) =>
    fillList(list, variable, label, options, values, (next, done) => {
      choose(variable.name, next);
      if (done) close();
    }),
  );
  return {
    element: h('div', { class: 'variable' }, h('span', { 'aria-hidden': 'true' }, label), box),
    update(shown) {
      values = shown.chosen[variable.name] ?? [];
      options = shown.options[variable.name] ?? fixedOptions(variable);
      const described = describe(values, options);
      text.textContent = described;
      button.setAttribute('aria-label', `${label}: ${described}`);
      button.classList.toggle('chosen', !values.includes(ALL));
    },
  };
}

function fixedOptions({ options = [] }: Variable): VariableOption[] {
  return options
    .map(({ text, value }) => ({ text: String(text), value: String(value) }))
    .filter(({ value }) => value !== ALL);
}

function describe(values: readonly string[], options: readonly VariableOption[]): string {
  if (values.includes(ALL) || values.length === 0) return 'All';
  const texts = values.map((value) => options.find((option) => option.value === value)?.text ?? value);
  return texts.length > 2 ? `${texts.slice(0, 2).join(', ')} + ${texts.length - 2}` : texts.join(', ');
}

function fillList(
  box: HTMLElement,
  variable: Variable,
  label: string,
  options: readonly VariableOption[],
  chosen: readonly string[],
  choose: (values: readonly string[], done: boolean) => void,
): void {
  let values = chosen;
  const missing = values.filter(
    (value) => value !== ALL && !options.some((option) => option.value === value),
  );
  const all = [...options, ...missing.map((value) => ({ value, text: value }))];
  const list = h('ul', { class: 'choices', role: 'group', 'aria-label': label });
  const draw = (): void => {
    const entries = variable.includeAll === true ? [{ value: ALL, text: 'All' }, ...all] : all;
    list.replaceChildren(
      ...entries.map(({ value, text }) => {
        const input = h('input', {
          type: variable.multi === true ? 'checkbox' : 'radio',
          name: `choice-${variable.name}`,
          value,
          onchange: () => {
            values = next(values, value, input.checked, variable.multi === true);
            const focused = value;
            choose(values, variable.multi !== true);
            draw();
            list.querySelector<HTMLInputElement>(`input[value="${CSS.escape(focused)}"]`)?.focus();
          },
        });
        input.checked = values.includes(value);
        return h('li', {}, h('label', {}, input, h('span', {}, text)));
      }),
    );
    if (all.length === 0) list.append(h('li', { class: 'quiet' }, 'none in this time range'));
  };
  draw();
  if (all.length > 10) {
    const filter = h('input', {
      type: 'search',
      class: 'choices-filter',
      placeholder: 'Find',
      'aria-label': `Find in ${label}`,
    });
    filter.addEventListener('input', () => {
      const wanted = filter.value.toLowerCase();
      for (const item of list.children)
        (item as HTMLElement).hidden = !(item.textContent ?? '').toLowerCase().includes(wanted);
    });
    box.append(filter);
  }
  box.append(list);
}

/** "All" and single values exclude each other; nothing chosen is "All". */
function next(values: readonly string[], value: string, checked: boolean, multi: boolean): readonly string[] {
  if (value === ALL || !multi) return [value];
  const rest = values.filter((one) => one !== ALL && one !== value);
  const now = checked ? [...rest, value] : rest;
  return now.length === 0 ? [ALL] : now;
}
