// Renders the templates of a chart as Helm 3 does, with the Go packages of Debian: for machines that have no helm.
// Usage: render-chart CHART RELEASE VALUES...    each file of values over the ones before it
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) object {
	text, err := os.ReadFile(path)
	check(err)
	value := object{}
	check(yaml.Unmarshal(text, &value))
	return value
}

// Members of objects are laid over each other, everything else takes the place of what was there.
func lay(under object, over object) object {
	for name, value := range over {
		below, isBelow := under[name].(object)
		above, isAbove := value.(object)
		if isBelow && isAbove {
			under[name] = lay(below, above)
		} else {
			under[name] = value
		}
	}
	return under
}

func main() {
	chart, release := os.Args[1], os.Args[2]
	values := read(filepath.Join(chart, "values.yaml"))
	for _, path := range os.Args[3:] {
		values = lay(values, read(path))
	}
	about := object{}
	for name, value := range read(filepath.Join(chart, "Chart.yaml")) {
		about[strings.ToUpper(name[:1])+name[1:]] = value
	}
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		check(err)
		return strings.TrimSuffix(string(text), "\n")
	}
	functions["include"] = func(name string, data interface{}) string {
		text := strings.Builder{}
		check(all.ExecuteTemplate(&text, name, data))
		return text.String()
	}
	paths, err := filepath.Glob(filepath.Join(chart, "templates/*"))
	check(err)
	_, err = all.Funcs(functions).ParseFiles(paths...)
	check(err)
	data := object{"Values": values, "Chart": about, "Release": object{"Name": release, "Namespace": "default"}}
	for _, path := range paths {
		if strings.HasSuffix(path, ".yaml") {
			fmt.Println("---")
			check(all.ExecuteTemplate(os.Stdout, filepath.Base(path), data))
		}
	}
}
