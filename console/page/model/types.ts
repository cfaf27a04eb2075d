/** The part of Grafana's classic dashboard JSON that our dashboards have and the page draws. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly refresh?: string | false;
  readonly time?: { readonly from: string; readonly to: string };
  readonly panels: readonly Panel[];
  readonly templating?: { readonly list?: readonly Variable[] };
  readonly links?: readonly { readonly title: string; readonly tags?: readonly string[] }[];
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly collapsed?: boolean;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly refId?: string; readonly format?: number }[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly fieldConfig?: {
    readonly defaults?: FieldConfig;
    readonly overrides?: readonly Override[];
  };
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly label?: string;
  readonly description?: string;
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly query?: unknown;
  readonly options?: readonly {
    readonly text: string | readonly string[];
    readonly value: string | readonly string[];
  }[];
  readonly current?: {
    readonly value?: string | readonly string[];
    readonly text?: string | readonly string[];
  };
}

export interface Override {
  readonly matcher: { readonly id: string; readonly options?: unknown };
  readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
}

export interface FieldConfig {
  readonly displayName?: string;
  readonly unit?: string;
  readonly decimals?: number | null;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly noValue?: string;
  readonly color?: FieldColor;
  readonly thresholds?: Thresholds;
  readonly mappings?: readonly Mapping[];
  readonly links?: readonly DataLink[];
  readonly custom?: CustomConfig;
}

export interface FieldColor {
  readonly mode: string;
  readonly fixedColor?: string;
}

export interface Thresholds {
  /** Ascending; the first has no value and holds from minus infinity. */
  readonly steps: readonly { readonly value: number | null; readonly color: string }[];
}

export interface MappingResult {
  readonly text?: string;
  readonly color?: string;
  readonly index?: number;
}

export interface Mapping {
  readonly type: 'value';
  readonly options: Readonly<Record<string, MappingResult>>;
}

export interface DataLink {
  readonly title: string;
  readonly url: string;
}

/** What a panel type reads of a field beyond the common part. */
export interface CustomConfig {
  readonly drawStyle?: 'line' | 'bars';
  /** Bars before, around or after their time. */
  readonly barAlignment?: -1 | 0 | 1;
  readonly lineWidth?: number;
  readonly lineStyle?: { readonly fill?: string; readonly dash?: readonly number[] };
  readonly fillOpacity?: number;
  readonly showPoints?: string;
  readonly pointSize?: number;
  /** A number: the line ends where no point comes for so many milliseconds. */
  readonly insertNulls?: boolean | number;
  readonly stacking?: { readonly mode?: string; readonly group?: string };
  readonly axisPlacement?: string;
  readonly thresholdsStyle?: { readonly mode?: string };
  readonly hideFrom?: { readonly legend?: boolean };
  readonly align?: string;
  readonly width?: number;
  readonly cellOptions?: { readonly type?: string };
}
