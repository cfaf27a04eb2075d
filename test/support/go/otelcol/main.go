// A Collector of a few components, as the Collector's own builder would generate it: what receives our spans in
// tests, and what the bench `otel-collector` measures gatewatch against. The receiver of Kafka is of an earlier
// release than the rest: go.mod has the newest of each that could be had with all that it needs.
package main

import (
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/kafkareceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol", Version: "0.161.0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				DefaultScheme:     "file",
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
			},
		},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}

func factories() (otelcol.Factories, error) {
	kafka, batch := kafkareceiver.NewFactory(), batchprocessor.NewFactory()
	clickhouse, file, otlp := clickhouseexporter.NewFactory(), fileexporter.NewFactory(), otlpreceiver.NewFactory()
	return otelcol.Factories{
		Receivers:  map[component.Type]receiver.Factory{kafka.Type(): kafka, otlp.Type(): otlp},
		Processors: map[component.Type]processor.Factory{batch.Type(): batch},
		Exporters:  map[component.Type]exporter.Factory{clickhouse.Type(): clickhouse, file.Type(): file},
		Telemetry:  otelconftelemetry.NewFactory(),
	}, nil
}
