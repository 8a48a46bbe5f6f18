// SPDX-License-Identifier: MIT

// names prints what the package in a folder exports, one a line, with the build tags that are given:
// timebase.UTC, timebase.Clock.UTC.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: names FOLDER [TAG...]")
		os.Exit(2)
	}
	names, err := namesIn(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println(name)
	}
}

func namesIn(folder string, tags []string) ([]string, error) {
	context := build.Default
	context.BuildTags = tags
	context.CgoEnabled = true
	pkg, err := context.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range append(pkg.GoFiles, pkg.CgoFiles...) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, 0)
		if err != nil {
			return nil, err
		}
		for _, name := range exported(file) {
			names = append(names, pkg.Name+"."+name)
		}
	}
	return names, nil
}

func exported(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if name := nameOf(d); name != "" {
				names = append(names, name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, declared(spec)...)
			}
		}
	}
	return names
}

// nameOf is Function or Type.Method, or nothing if it is not exported.
func nameOf(f *ast.FuncDecl) string {
	if !f.Name.IsExported() {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok && name.IsExported() {
		return name.Name + "." + f.Name.Name
	}
	return ""
}

func declared(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			names = append(names, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
