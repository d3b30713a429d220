// Grafana's types of a dashboard: its JSON, and the options of the panel types in ours.
import type * as g from "@grafana/schema";
import type * as stat from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type * as timeseries from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";

// In JSON an enumeration is its value.
type Json<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;

// The types leave options, variables' queries and targets open; the plugins do not.
interface Target { refId: string; datasource: g.DataSourceRef; expr: string; legendFormat: string }
type Of<T extends string, O, F> = Omit<g.Panel, "type" | "options" | "targets" | "fieldConfig"> & {
	type: T; title: string; gridPos: g.GridPos; options: O; targets: Target[];
	fieldConfig: Omit<g.FieldConfigSource, "defaults"> & { defaults: Omit<g.FieldConfig, "custom"> & { custom?: F } };
};

export type row_ = Json<g.RowPanel>;
export type stat_ = Json<Of<"stat", stat.Options, never>>;
export type timeseries_ = Json<Of<"timeseries", timeseries.Options, timeseries.FieldConfig>>;
export type variable_ = Json<g.VariableModel & { definition?: string }>;
export type board_ = Json<Omit<g.Dashboard, "panels" | "templating">>;
